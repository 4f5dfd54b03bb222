// @module-tag long
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { onLeash } from '../../kit/leash.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { watchTool } from '../../kit/running-tool.ts';
import { createTestDatabase } from '../../postgres.ts';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

test('systemd hears that the server serves, that it goes on, and that it stops', async () => {
  await using database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-notify-'));
  const heard = join(folder, 'heard');
  writeFileSync(heard, '');
  // In place of the program of systemd: notes what it is to send, and whereto.
  const program = join(folder, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $WATCHDOG_USEC $*" >> '${heard}'\n`);
  chmodSync(program, 0o755);
  const lines = (): string[] => readFileSync(heard, 'utf8').split('\n').slice(0, -1);
  const flags = [
    `--data-dir=${join(folder, 'data')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${await freePort()}`,
    `--kvstore-servers=${database.url}`,
  ];
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env.PATH ?? ''}`,
    NOTIFY_SOCKET: '/run/notify',
    WATCHDOG_USEC: '400000',
  };
  const server = watchTool(onLeash(spawn(process.execPath, [MAIN, ...flags], { env })));
  await server.says('serving on https://');
  await vi.waitFor(() => expect(lines().length).toBeGreaterThan(3), PATIENCE);
  const [first, ...others] = lines();
  expect(first).toBe('/run/notify  --ready');
  expect(new Set(others)).toEqual(new Set(['/run/notify  WATCHDOG=1']));
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(lines()).toContain('/run/notify  STOPPING=1');
  rmSync(folder, { recursive: true, force: true });
});
