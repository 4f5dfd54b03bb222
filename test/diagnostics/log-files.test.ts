import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogFilePages } from '../../src/diagnostics/log-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-logs-'));
writeFileSync(join(folder, 'a<b.log'), 'hello\n');
writeFileSync(join(folder, '..', 'outside.log'), 'secret\n');
mkdirSync(join(folder, 'pods'));
writeFileSync(join(folder, 'pods', 'one.log'), 'one\n');
const pages = createLogFilePages(folder);

const ask = async (path: string) => {
  const answer = await pages.fetch(new Request(`http://localhost${path}`));
  return { code: answer.status, text: await answer.text(), location: answer.headers.get('location') };
};

test('the folder is listed, and each file is sent', async () => {
  expect((await ask('/logs')).location).toBe('/logs/');
  expect((await ask('/logs/')).text).toContain(
    '<a href="./a%3Cb.log">a&lt;b.log</a>\n<a href="./pods/">pods/</a>',
  );
  expect((await ask('/logs/pods')).text).toContain('>one.log</a>');
  expect(await ask('/logs/pods/one.log')).toMatchObject({ code: 200, text: 'one\n' });
  expect(await ask('/logs/a%3Cb.log')).toMatchObject({ code: 200, text: 'hello\n' });
});

test.each(['/logs/%2e%2e%2foutside.log', '/logs/pods%2f..%2f..%2foutside.log', '/logs/a%00b'])(
  '%s leads out of the folder, and is refused',
  async (path) => {
    const { code, text } = await ask(path);
    expect(code).toBe(400);
    expect(text).not.toContain('secret');
  },
);

test('what is not there is not found', async () => {
  expect((await ask('/logs/none.log')).code).toBe(404);
});
