import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { explainRefusal } from '../../src/cli/explain-refusal.ts';

function errorOf(attempt: () => unknown): unknown {
  try {
    attempt();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

test('what the system refuses is named once, with what to change', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-refusal-'));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const missing = join(folder, 'missing');
  const notThere = errorOf(() => readFileSync(missing));
  expect(explainRefusal(errorOf(() => mkdirSync(file, { recursive: true })))).toBe(
    `${file}: something else has this name already: name another one, or remove it`,
  );
  expect(explainRefusal(errorOf(() => mkdirSync(join(file, 'in'), { recursive: true })))).toMatch(
    /\/in: a part of this path is a file, and no folder: name another one$/,
  );
  const advice = 'there is no such file or folder: make it, or name another one';
  expect(explainRefusal(notThere)).toBe(`${missing}: ${advice}`);
  const wrapped = new Error(`--flag: ${missing}: ${String(Reflect.get(notThere as object, 'message'))}`, {
    cause: notThere,
  });
  expect(explainRefusal(wrapped)).toBe(`--flag: ${missing}: ${advice}`);
  rmSync(folder, { recursive: true });
  const port = await freePort();
  const refused = await new Client({ host: '127.0.0.1', port }).connect().catch((error: unknown) => error);
  expect(explainRefusal(refused)).toBe(
    `127.0.0.1:${port}: nothing answers there: start it, or correct the address`,
  );
  expect(explainRefusal(new AggregateError([refused, refused]))).toBe(explainRefusal(refused));
});

test('a port that another program has is named with its address', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const [refused] = await once(createServer().listen(port, '127.0.0.1'), 'error').catch((error) => [error]);
  holder.close();
  expect(explainRefusal(refused)).toBe(
    `127.0.0.1:${port}: another program has this port: stop it, or choose another port`,
  );
});

test('a line that says already what to change stays as it is', () => {
  expect(
    explainRefusal(
      new Error('the data directory is in use', { cause: errorOf(() => readFileSync('/nope')) }),
    ),
  ).toBe('the data directory is in use');
  expect(explainRefusal('text')).toBe('text');
});
