import { Agent } from 'node:https';
import type { Target } from '../load/jobs.ts';
import { ask } from './ask.ts';

const ASK_MS = 5;

/**
 * One small question after the other, about what the server has in memory, until the returned function is called. That answers how
 * many milliseconds the slowest has waited: about how long the event loop was held.
 */
export function askMeanwhile(target: Target): () => Promise<number> {
  let isOver = false;
  let longestMs = 0;
  const agent = new Agent({ keepAlive: true });
  const asking = (async () => {
    // The first makes the connection.
    for (let asked = 0; !isOver || asked === 0; asked += 1) {
      const startedAt = performance.now();
      await ask(target, { path: '/api/v1/namespaces/default?resourceVersion=0' }, agent);
      if (asked > 0) longestMs = Math.max(longestMs, performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    }
  })();
  // Prevents an unhandled rejection; the caller of the answer still sees the error.
  asking.catch(() => {});
  return async () => {
    isOver = true;
    await asking.finally(() => agent.destroy());
    return longestMs;
  };
}
