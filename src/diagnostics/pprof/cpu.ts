import { Session } from 'node:inspector/promises';
import { pause } from '../../util/pause.ts';

/** A CPU profile as Chrome's DevTools and VS Code open it (`.cpuprofile`). Ends early when the signal aborts. */
export async function recordCpuProfile(durationMs: number, signal: AbortSignal): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 1000 });
    await session.post('Profiler.start');
    await pause(durationMs, signal);
    const { profile } = await session.post('Profiler.stop');
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}
