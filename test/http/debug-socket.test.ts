import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDebugSocket } from '../../src/http/debug-socket.ts';
import type { Logger } from '../../src/observability/logger.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'debug-socket-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const open = (name: string) =>
  openDebugSocket(join(folder, name), [], { error: () => {} } as unknown as Logger);

test('a file that is no socket stays, and the error names it', async () => {
  writeFileSync(join(folder, 'notes'), 'precious');
  symlinkSync('notes', join(folder, 'link'));
  for (const name of ['notes', 'link', '.'])
    await expect(open(name)).rejects.toThrow(`${join(folder, name)} is there and is no socket`);
  expect(readFileSync(join(folder, 'link'), 'utf8')).toBe('precious');
});

test('a socket that a dead server left behind is replaced', async () => {
  const path = join(folder, 'socket');
  const heard = vi.fn();
  const left = createServer(heard);
  await once(left.listen(path), 'listening');
  const socket = await open('socket');
  const client = connect(path);
  await once(client, 'connect');
  expect(heard).not.toHaveBeenCalled();
  client.destroy();
  await socket.close();
  left.close();
});
