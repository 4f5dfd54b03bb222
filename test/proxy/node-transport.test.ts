import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentCredentials } from '../../src/proxy/node-transport.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-credentials-'));
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('renewed files count without a restart, and files that are gone do not count', () => {
  const certFile = write('cert', 'first');
  const keyFile = write('key', 'key');
  const credentials = new AgentCredentials({ caFile: '', certFile, keyFile });
  expect(credentials.verifies).toBe(false);
  write('cert', 'the second');
  vi.advanceTimersByTime(1500);
  expect(String(credentials.current().cert)).toBe('the second');
  rmSync(keyFile);
  vi.advanceTimersByTime(1500);
  expect(String(credentials.current().key)).toBe('key');
});

test('a file that cannot be read is found at the start', () => {
  expect(() => new AgentCredentials({ caFile: join(folder, 'none'), certFile: '', keyFile: '' })).toThrow(
    'ENOENT',
  );
});
