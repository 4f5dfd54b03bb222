import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { plainText } from '../pages/pages.ts';

/** --enable-logs-handler: /logs/ lists the files of the folder, and /logs/kern.log sends one (Kubernetes: server/routes/logs.go). */
export function createLogFilePages(folder: string): Hono {
  return new Hono()
    .get('/logs', (context) => context.redirect('/logs/'))
    .get('/logs/', () => showFolder(folder))
    .get('/logs/:path{.+}', ({ req }) => show(folder, req.param('path')));
}

async function show(folder: string, path: string): Promise<Response> {
  if (path.includes('\0') || path.split('/').includes('..')) return plainText(400, 'invalid URL path\n');
  const file = join(folder, path);
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory() === true) return showFolder(file);
  // A pipe or a device would never end.
  if (found?.isFile() !== true) return plainText(404, '404 page not found\n');
  return new Response(Readable.toWeb(createReadStream(file)), {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'transfer-encoding': 'chunked',
      'x-content-type-options': 'nosniff',
    },
  });
}

async function showFolder(folder: string): Promise<Response> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return plainText(404, '404 page not found\n');
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const lines = names.map((name) => `<a href="./${encodeURI(name)}">${escaped(name)}</a>\n`);
  return plainText(200, `<!doctype html>\n<pre>\n${lines.join('')}</pre>\n`, 'text/html; charset=utf-8');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;' };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => ESCAPES[letter] ?? letter);
