import { signal } from '@preact/signals';

/** Requests to the API, with the user's credentials: those of the connection, or a token that the user typed. */

/** A failed request. `code` is the HTTP status; 0: no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;

  constructor({ code, reason, message }: { code: number; reason: string; message: string }) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** The root of the API: `/`, or the prefix of a proxy. */
const BASE = location.pathname.replace(/console\/[^/]*$/, '');

const TOKEN_KEY = 'pg-apiserver-token';

/** Kept only while the tab is open, and never in the address. '': none. */
export const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? '');

export function setToken(value: string): void {
  token.value = value;
  if (value === '') sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, value);
}

/** True when the server refused the credentials: the page then asks for a token. */
export const isSignedOut = signal(false);

/** False while requests get no answer. */
export const isReachable = signal(true);

/** The server's clock minus the browser's, in ms: past times are the server's. */
let skewMs = 0;

export const serverNow = (): number => Date.now() + skewMs;

export interface Ask {
  readonly accept?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

const JSON_TYPE = 'application/json';

/** `path` is below the root, without a slash before it: `api/v1/pods`. @throws ApiError */
export async function ask(path: string, options: Ask = {}): Promise<Response> {
  const { accept = JSON_TYPE, method = 'GET', body, signal } = options;
  const headers: Record<string, string> = { accept };
  if (token.value !== '') headers.authorization = `Bearer ${token.value}`;
  if (body !== undefined) headers['content-type'] = JSON_TYPE;
  const response = await reach(BASE + path + queryOf(options.query), {
    ...{ method, headers, cache: 'no-store', redirect: 'error' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  noteTime(response);
  if (response.ok) return response;
  const error = await toError(response);
  if (error.code === 401) isSignedOut.value = true;
  throw error;
}

/** @throws ApiError */
export async function askJson<T>(path: string, options?: Ask): Promise<T> {
  const response = await ask(path, options);
  return (await response.json()) as T;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    isReachable.value = true;
    return response;
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    isReachable.value = false;
    throw new ApiError({ code: 0, reason: 'Unreachable', message: 'The server cannot be reached.' });
  }
}

function queryOf(query: Ask['query'] = {}): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function noteTime(response: Response): void {
  const at = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds.
  const found = at + 500 - Date.now();
  if (!Number.isNaN(at)) skewMs = Math.abs(found) > 3000 ? found : 0;
}

async function toError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const { reason = '', message = '' } = JSON.parse(text) as { reason?: string; message?: string };
    return new ApiError({ code: response.status, reason, message: message === '' ? reason : message });
  } catch {
    const message =
      text.trim() === '' ? `The server answered ${response.status}.` : text.trim().slice(0, 500);
    return new ApiError({ code: response.status, reason: '', message });
  }
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';
