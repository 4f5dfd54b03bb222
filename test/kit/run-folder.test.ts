import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quickestFolder } from './run-folder.ts';

test('the files of a run are in memory only where that has room and lets programs run, and TMPDIR does not say where', () => {
  const memory = mkdtempSync(join(tmpdir(), 'pg-apiserver-memory-'));
  try {
    expect(quickestFolder({}, memory, 1)).toBe(memory);
    expect(quickestFolder({ TMPDIR: '/chosen' }, memory, 1)).toBe(tmpdir());
    expect(quickestFolder({}, memory, 2 ** 60)).toBe(tmpdir());
    expect(quickestFolder({}, join(memory, 'absent'), 1)).toBe(tmpdir());
    // Takes no files, so no programs either.
    expect(quickestFolder({}, '/proc', 0)).toBe(tmpdir());
  } finally {
    rmSync(memory, { recursive: true });
  }
});
