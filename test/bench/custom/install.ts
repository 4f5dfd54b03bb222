import { once } from 'node:events';
import { ask, demand } from '../environment/ask.ts';
import type { Target } from '../load/jobs.ts';
import { DEFINITIONS, type Definition } from './definitions.ts';

const TIMEOUT_MS = 300_000;
const POLL_MS = 100;

export async function install(target: Target, definition: Definition): Promise<void> {
  await demand(target, { method: 'POST', path: DEFINITIONS, body: definition.json });
  await untilServed(target, definition);
}

/** Until lists of its objects are answered. */
export async function untilServed(target: Target, { group, plural }: Definition): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  const path = `/apis/${group}/v1/${plural}?limit=1`;
  while ((await ask(target, { path })).status !== 200) {
    if (performance.now() > deadline) throw new Error(`${plural}.${group} is not served`);
    await once(AbortSignal.timeout(POLL_MS), 'abort');
  }
}
