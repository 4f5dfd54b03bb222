import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe } from './describe.ts';
import type { Importer } from './importer.ts';
import type { PastWrite } from './past-write.ts';
import type { Progress } from './progress.ts';

/** Writes that go to the log together. */
const MOST_AT_ONCE = 500;

/** Replays the history of an export in its order: writes of different objects together, those of one object one after another. */
export async function replayHistory(path: string, importer: Importer, progress: Progress): Promise<number> {
  let batch = new Map<string, PastWrite>();
  let count = 0;
  progress.begin('revisions');
  const flush = async (): Promise<void> => {
    const writes = [...batch.values()];
    batch = new Map();
    await Promise.all(writes.map((write) => importer.replay(write)));
    progress.add(writes.length);
    count += writes.length;
  };
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line === '') continue;
    const write: PastWrite = JSON.parse(line);
    const name = describe(write.object);
    if (batch.has(name) || batch.size >= MOST_AT_ONCE) await flush();
    batch.set(name, write);
  }
  await flush();
  return count;
}
