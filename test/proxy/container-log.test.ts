import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { StatusError } from '../../src/api/status.ts';
import { streamLog } from '../../src/proxy/container-log.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import type { Backend, BackendAnswer, BackendTransport } from '../../src/request/backend.ts';

const BACKEND: Backend = { scheme: 'https', host: 'a', port: '', path: '', query: '', trust: 'none' };
const REQUEST = { signal: new AbortController().signal } as ApiRequest;

async function refusal(code: number, body: Readable): Promise<StatusError> {
  const answer: BackendAnswer = { kind: 'answer', code, message: '', headers: {}, rawHeaders: [], body };
  const transport: BackendTransport = {
    send: () => Promise.resolve(answer),
    upgrade: () => Promise.resolve(answer),
  };
  const options = { resource: 'pods/log', name: 'web', follow: false };
  const error: unknown = await streamLog(transport, BACKEND, REQUEST, options).catch((thrown) => thrown);
  if (error instanceof StatusError) return error;
  throw new Error('not refused', { cause: error });
}

test('of a refusal without end no more is read than is shown, and the agent is let go', async () => {
  let given = 0;
  const body = new Readable({
    read() {
      given += 1000;
      this.push(Buffer.alloc(1000, 'x'));
    },
  });
  const { status } = await refusal(500, body);
  expect(status.message).toContain('x'.repeat(50_000));
  expect(status.message?.length).toBeLessThan(51_000);
  expect(given).toBeLessThan(200_000);
  expect(body.destroyed).toBe(true);
});

test('a refusal that breaks off is reported as far as it came', async () => {
  async function* broken(): AsyncIterable<Buffer> {
    yield Buffer.from('no such container');
    throw new Error('the agent went away');
  }
  expect((await refusal(400, Readable.from(broken()))).status.message).toBe('no such container');
});
