import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { JsonObject } from '../../api/object-meta.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import { isObject } from '../../object/json-values.ts';
import { readClientConfig } from '../../outbound/client-config.ts';
import { createKeptAgent } from '../../outbound/http-client.ts';
import { errorText } from '../../util/error-text.ts';
import { persist } from '../../util/pause.ts';
import { createReminder } from '../../util/reminder.ts';
import { VERSION } from '../../version.ts';

/** An answer that is no success. */
export class ApiError extends Error {
  readonly code: number;

  constructor(path: string, code: number, message: string) {
    super(`GET ${path}: ${message || `the server answered with status ${code}`}`);
    this.name = 'ApiError';
    this.code = code;
  }
}

interface ApiClientOptions {
  readonly kubeconfig: string;
  readonly signal: AbortSignal;
  /** One line for the operator. */
  readonly say: (line: string) => void;
}

/** How long the answer with a list or an object may pause; a watch may be silent for longer. */
const SILENCE_MS = 60_000;

/**
 * ApiClient reads a Kubernetes API as the user of a kubeconfig. It waits while a server that has answered is away; one that never has
 * may have another address.
 */
export class ApiClient {
  readonly url: string;
  readonly #options: ApiClientOptions;
  readonly #send: (path: string, signal: AbortSignal) => Promise<IncomingMessage>;
  readonly #close: () => void;
  #hasAnswered = false;

  /** @throws Error that names the file and the problem */
  constructor(options: ApiClientOptions) {
    const server = readClientConfig(options.kubeconfig);
    this.url = server.url;
    this.#options = options;
    const base = server.url.replace(/\/$/, '');
    const secure = base.startsWith('https:');
    const agent = createKeptAgent(server, secure);
    const headers = {
      accept: 'application/json',
      'user-agent': `pg-apiserver/${VERSION.gitVersion}`,
      ...(server.authorization === undefined ? {} : { authorization: server.authorization }),
    };
    this.#send = (path, signal) =>
      new Promise((resolve, reject) => {
        const send = secure ? requestHttps : requestHttp;
        const request = send(`${base}${path}`, { agent, signal, headers }, (response) => {
          this.#hasAnswered = true;
          resolve(response);
        });
        request.once('error', reject);
        request.end();
      });
    this.#close = () => agent.destroy();
  }

  close(): void {
    this.#close();
  }

  /** Repeats the request while a server that has answered before is away. @throws ApiError, Error */
  get(path: string): Promise<JsonObject> {
    const { signal, say } = this.#options;
    const remind = createReminder((trouble) => say(`${this.url} is asked again: ${trouble}`));
    let faults = 0;
    return persist(() => this.#get(path), {
      signal,
      isPassing: (error) => {
        if (isFault(error)) faults += 1;
        return this.#hasAnswered && isPassing(error) && faults < MOST_FAULTS;
      },
      onFailure: (error) => remind(errorText(error)),
    });
  }

  async #get(path: string): Promise<JsonObject> {
    const silence = AbortSignal.timeout(SILENCE_MS * 5);
    const response = await this.#send(path, AbortSignal.any([this.#options.signal, silence]));
    const bytes = await readAll(response);
    const code = response.statusCode ?? 0;
    if (code !== 200) throw new ApiError(path, code, messageIn(bytes));
    const value = parseJsonBytes(bytes);
    if (!isObject(value)) throw new ApiError(path, code, 'the answer is no JSON object');
    return value;
  }

  /** The lines of a watch, until the server ends it. @throws ApiError, Error */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<JsonObject> {
    const response = await this.#send(path, signal);
    const code = response.statusCode ?? 0;
    if (code !== 200) throw new ApiError(path, code, messageIn(await readAll(response)));
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of response as AsyncIterable<Buffer>) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        const value = parseJsonBytes(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
        if (isObject(value)) yield value;
      }
    }
  }
}

const NEWLINE = 0x0a;

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The message of a Status. */
function messageIn(bytes: Buffer): string {
  try {
    const value = parseJsonBytes(bytes);
    return isObject(value) && typeof value.message === 'string' ? value.message : '';
  } catch {
    return '';
  }
}

/** A server that cannot read what it keeps, as without its encryption configuration, answers so each time. */
const MOST_FAULTS = 5;

const isFault = (error: unknown): boolean => error instanceof ApiError && error.code === 500;

const PASSING_CODES: readonly number[] = [429, 500, 502, 503, 504];
const PASSING_ERRORS: readonly string[] = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'];

/** Whether a failed request may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return PASSING_CODES.includes(error.code);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && PASSING_ERRORS.includes(code);
}
