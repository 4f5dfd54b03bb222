import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FollowedFiles } from '../../src/util/followed-files.ts';

test('a value made from files follows them, survives invalid ones, and each error is reported once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-followed-'));
  const path = join(folder, 'a');
  writeFileSync(path, '1');
  const errors: unknown[] = [];
  const made: number[] = [];
  const files = new FollowedFiles({
    paths: [path],
    make: ([text = '']) => {
      if (Number.isNaN(Number(text))) throw new Error('no number');
      return Number(text);
    },
    onChange: (value) => {
      made.push(value);
    },
    onError: (error) => errors.push(error),
  });
  expect(files.current).toBe(1);
  files.look();
  writeFileSync(path, 'rubbish');
  files.look();
  files.look();
  expect(errors).toHaveLength(1);
  expect(files.current).toBe(1);
  writeFileSync(path, '22');
  files.look();
  expect(files.current).toBe(22);
  rmSync(path);
  files.look();
  files.look();
  expect(errors).toHaveLength(2);
  expect(files.current).toBe(22);
  // How a mounted secret changes: a link is put in the place of another.
  writeFileSync(join(folder, 'b'), '333');
  symlinkSync(join(folder, 'b'), join(folder, 'link'));
  renameSync(join(folder, 'link'), path);
  files.look();
  expect(made).toEqual([22, 333]);
  unlinkSync(path);
  rmSync(folder, { recursive: true });
});

test('the action on a change ends before the next change is looked for, and its errors are reported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-followed-'));
  const path = join(folder, 'a');
  writeFileSync(path, 'first');
  const events: unknown[] = [];
  const stop = new AbortController();
  const files = new FollowedFiles({
    paths: [path],
    make: ([text = '']) => text,
    onChange: async (text) => {
      events.push(`began ${text}`);
      if (text === 'the second') writeFileSync(path, 'and the third');
      await new Promise((resolve) => setTimeout(resolve, 20));
      events.push(`ended ${text}`);
      if (text === 'and the third') throw new Error('no use');
    },
    onError: (error) => {
      events.push(String(error));
      stop.abort();
    },
    everyMs: 1,
  });
  const running = files.run(stop.signal);
  writeFileSync(path, 'the second');
  await running;
  expect(events).toEqual([
    'began the second',
    'ended the second',
    'began and the third',
    'ended and the third',
    'Error: no use',
  ]);
  expect(files.current).toBe('and the third');
  rmSync(folder, { recursive: true });
});
