import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE } from './patience.ts';

/** A real browser, out of the npm package that ships it. Unpacked once, beside the installed packages. */

const PACKAGE = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..');
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/pg-apiserver/', import.meta.url));

function unpackBrowser(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const target = join(CACHE, `chromium-${version}`);
  if (existsSync(target)) return target;
  mkdirSync(CACHE, { recursive: true });
  // Of several that write at once, the last one's whole file stays.
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, brotliDecompressSync(readFileSync(join(PACKAGE, 'bin', 'chromium.br'))));
  chmodSync(partial, 0o755);
  renameSync(partial, target);
  return target;
}

/** Where the machine lacks libraries of the browser (libnss3), those of the package stand in. */
function librariesFor(browser: string): Record<string, string> {
  if (spawnSync(browser, ['--version']).status === 0) return {};
  const folder = join(CACHE, 'chromium-libraries');
  mkdirSync(folder, { recursive: true });
  const input = brotliDecompressSync(readFileSync(join(PACKAGE, 'bin', 'al2023.tar.br')));
  spawnSync('tar', ['-xf', '-', '-C', folder], { input });
  return { LD_LIBRARY_PATH: join(folder, 'lib') };
}

export function startBrowser(): Promise<Browser> {
  const executablePath = unpackBrowser();
  return chromium.launch({
    executablePath,
    args: ['--headless=shell', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    env: { ...process.env, ...librariesFor(executablePath) } as Record<string, string>,
  });
}

/** A tab of its own, with all that the browser had to complain about. */
export interface Tab {
  readonly page: Page;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export async function openTab(
  browser: Browser,
  url: string,
  { token = '', ...options }: BrowserContextOptions & { readonly token?: string } = {},
): Promise<Tab> {
  // Without a GPU, an animation that never ends costs as much as everything that the tests look at.
  const context = await browser.newContext({
    ...{ ignoreHTTPSErrors: true, reducedMotion: 'reduce' },
    ...options,
  });
  context.setDefaultTimeout(PATIENCE.timeout);
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // The page made every request to another server, also those that failed.
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) complaints.push(`a request to ${request.url()}`);
  });
  if (token !== '')
    await page.addInitScript((value) => sessionStorage.setItem('pg-apiserver-token', value), token);
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}
