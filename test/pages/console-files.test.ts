import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createConsole } from '../../src/pages/console-files.ts';
import type { ApiResponse } from '../../src/request/api-response.ts';

let console: NonNullable<ReturnType<typeof createConsole>>;

beforeAll(() => {
  const folder = `${mkdtempSync(join(tmpdir(), 'pg-apiserver-console-'))}/`;
  mkdirSync(join(folder, 'assets'));
  const files = {
    'index.html': '<page>',
    'assets/a-1.js': 'script',
    'assets/a-1.js.br': 'B',
    'assets/a-1.js.gz': 'G',
  };
  for (const [name, text] of Object.entries({ ...files, 'assets/secret.key': 'key' }))
    writeFileSync(join(folder, name), text);
  console = createConsole(folder);
});

function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): ApiResponse | undefined {
  return console({ method, path, headers });
}

const textOf = (response: ApiResponse | undefined): string =>
  response?.kind === 'bytes' ? Buffer.concat(response.chunks).toString() : '';

test('the page runs nothing but its own files, in no frame, and sends requests to its server alone', () => {
  const { headers = {}, contentType = '' } = ask('/console/') as Extract<ApiResponse, { kind: 'bytes' }>;
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';/,
  );
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:|http/);
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  expect(contentType).toBe('text/html; charset=utf-8');
});

test('files that are named by their content are kept for ever, and the page is asked for anew', () => {
  expect(ask('/console/assets/a-1.js')).toMatchObject({
    contentType: 'text/javascript; charset=utf-8',
    headers: { 'cache-control': 'public, max-age=31536000, immutable' },
  });
  const page = ask('/console/');
  expect(page).toMatchObject({ code: 200, headers: { 'cache-control': 'no-cache' } });
  const etag = String((page as { headers: Record<string, string> }).headers.etag);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`])
    expect(ask('/console/', { 'if-none-match': known })).toMatchObject({ code: 304, chunks: [] });
  expect(ask('/console/', { 'if-none-match': '"other"' })).toMatchObject({ code: 200 });
});

test('a file is sent packed to clients that can unpack it', () => {
  const path = '/console/assets/a-1.js';
  const sent = (accepted: string): string => textOf(ask(path, { 'accept-encoding': accepted }));
  expect(['gzip, deflate, br', 'gzip', '', 'identity', 'br;q=0, gzip;q=0.5', 'gzip;q=0.0'].map(sent)).toEqual(
    [...['B', 'G', 'script', 'script', 'G', 'script']],
  );
  expect(ask(path, { 'accept-encoding': 'br' })).toMatchObject({
    headers: { 'content-encoding': 'br', vary: 'Accept-Encoding' },
  });
});

test('nothing is served but the files of the page, and those can only be read', () => {
  for (const path of [
    '/console/../package.json',
    '/console/assets/secret.key',
    '/console/assets/',
    '/console/index.html.br',
    '/consoles',
    '/',
  ])
    expect(ask(path), path).toBeUndefined();
  expect(ask('/console')).toMatchObject({ code: 301, headers: { location: 'console/' } });
  expect(ask('/console/', {}, 'POST')).toMatchObject({ code: 405, headers: { allow: 'GET, HEAD' } });
  expect(ask('/console/', {}, 'HEAD')).toMatchObject({ code: 200 });
});
