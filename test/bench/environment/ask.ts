import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, request } from 'node:https';
import { tlsOf } from '../load/connections.ts';
import type { Target } from '../load/jobs.ts';

export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const TIMEOUT_MS = 120_000;

/** One request, for what is not measured, on a connection of its own unless an agent has one. A refusal is an answer. */
export function ask(
  target: Target,
  { method = 'GET', path, body, headers = {} }: Question,
  agent: Agent | false = false,
): Promise<Asked> {
  const { hostname, port } = new URL(target.url);
  const { token } = target;
  const sent = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const options = {
      ...tlsOf(target),
      host: hostname,
      port,
      method,
      path,
      headers: sent,
      agent,
    };
    const asking = request({ ...options, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    asking.once('timeout', () => asking.destroy(new Error(`${method} ${path}: no answer`)));
    asking.once('error', reject);
    asking.end(body);
  });
}

/** @throws Error for a refusal */
export async function demand(target: Target, question: Question): Promise<Asked> {
  const asked = await ask(target, question);
  if (asked.status < 400) return asked;
  const { method = 'GET', path } = question;
  throw new Error(`${method} ${path}: ${asked.status} ${asked.body.toString('utf8', 0, 300)}`);
}
