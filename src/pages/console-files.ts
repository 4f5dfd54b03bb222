import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROJECT } from '../project.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseHeaders } from '../request/api-response.ts';

/**
 * The console: a web page that shows the cluster and its history. Its files come from the build and contain no data: the page
 * requests data with its user's credentials. So the files are public: a browser cannot send credentials before it has a page
 * that asks for them.
 */
type Console = (request: Pick<ApiRequest, 'method' | 'path' | 'headers'>) => ApiResponse | undefined;

const CONSOLE_FOLDER = fileURLToPath(new URL('dist/console/', PROJECT));

const ROOT = '/console/';

/**
 * Forbids external content, inline content, and framing, so that scripts in names or values of objects can neither run nor call
 * home. Styles that the page sets by script are not inline styles.
 */
const POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'connect-src', 'img-src'].map((what) => `${what} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((what) => `${what} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: ResponseHeaders = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** In order of preference. The build compresses files that become smaller. */
const CODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

interface Page {
  readonly plain: Form;
  readonly packed: ReadonlyMap<string, Form>;
}

interface Form {
  readonly body: Buffer;
  readonly headers: ResponseHeaders;
  readonly etag: string;
  readonly contentType: string;
}

/** Reads the files for the first request, and keeps them: they have some hundred kilobytes. */
export function createConsole(folder = CONSOLE_FOLDER): Console {
  let pages: ReadonlyMap<string, Page> | undefined;
  return ({ method, path, headers }) => {
    if (!path.startsWith('/console')) return undefined;
    if (path === '/console') return { ...NOTHING, code: 301, headers: { ...HEADERS, location: 'console/' } };
    if (!path.startsWith(ROOT)) return undefined;
    pages ??= readPages(folder);
    const page = pages.get(path.slice(ROOT.length));
    if (page === undefined) return undefined;
    if (method !== 'GET' && method !== 'HEAD')
      return { ...NOTHING, code: 405, headers: { allow: 'GET, HEAD' } };
    return answer(formFor(page, String(headers['accept-encoding'] ?? '')), headers['if-none-match']);
  };
}

const NOTHING = { kind: 'bytes', contentType: '', chunks: [], compressible: false } as const;

/** By name; the page itself is ''. Compressed files are forms of the original. */
function readPages(folder: string): Map<string, Page> {
  const names = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length)),
  );
  const pages = new Map<string, Page>();
  for (const name of names) {
    if (MEDIA_TYPES[extname(name)] === undefined) continue;
    const packed = CODINGS.filter(({ suffix }) => names.has(name + suffix)).map(
      (coding) => [coding.name, readForm(folder, name, coding)] as const,
    );
    pages.set(name === 'index.html' ? '' : name, { plain: readForm(folder, name), packed: new Map(packed) });
  }
  return pages;
}

function readForm(folder: string, name: string, coding?: (typeof CODINGS)[number]): Form {
  const body = readFileSync(join(folder, name + (coding?.suffix ?? '')));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  // Names of assets contain the hash of their content.
  const isNamedByContent = name.startsWith('assets/');
  return {
    body,
    etag,
    contentType: MEDIA_TYPES[extname(name)] ?? '',
    headers: {
      ...HEADERS,
      ...(coding === undefined ? {} : { 'content-encoding': coding.name }),
      'cache-control': isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'Accept-Encoding',
      etag,
    },
  };
}

function formFor({ plain, packed }: Page, accepted: string): Form {
  const wanted = new Set(
    accepted
      .split(',')
      .map((part) => part.trim().split(/\s*;\s*/))
      .filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? ''))
      .map(([name = '']) => name.toLowerCase()),
  );
  for (const { name } of CODINGS) {
    const form = packed.get(name);
    if (form !== undefined && wanted.has(name)) return form;
  }
  return plain;
}

function answer({ body, headers, etag, contentType }: Form, known: string | undefined): ApiResponse {
  if (known?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag))
    return { ...NOTHING, code: 304, headers };
  return { kind: 'bytes', code: 200, contentType, headers, chunks: [body], compressible: false };
}
