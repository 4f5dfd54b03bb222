import { createServer as createHttp1, request as requestHttp1 } from 'node:http';
import { connect, createServer as createHttp2, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { expect, test } from 'vitest';
import type { Answer, Incoming } from '../../src/http/exchange.ts';
import { Http1Incoming } from '../../src/http/http1-incoming.ts';
import { acceptStreams } from '../../src/http/http2-exchange.ts';
import { IncomingRequest } from '../../src/http/incoming-request.ts';
import { send } from '../../src/http/send.ts';
import { Throttle } from '../../src/http/stream-body.ts';

const options = { compresses: true, throttle: new Throttle(0), patienceMs: 60_000 };

/** Answers with a stream of five frames, in two turns. */
const answer = (incoming: Incoming, outgoing: Answer): Promise<void> =>
  send(
    options,
    new IncomingRequest(incoming),
    {
      kind: 'stream',
      code: 200,
      contentType: 'application/json',
      run: async (sink) => {
        for (const frame of ['a', 'b', 'c']) sink.write(Buffer.from(frame));
        await new Promise((resolve) => setImmediate(resolve));
        for (const frame of ['d', 'e']) sink.write(Buffer.from(frame));
      },
    },
    outgoing,
  );

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('every frame of a stream arrives over HTTP/2', async () => {
  const server = createHttp2();
  acceptStreams(server as Http2SecureServer, (exchange) => void answer(exchange, exchange));
  const session = connect(`http://127.0.0.1:${await listening(server)}`);
  expect(await textOf(session.request({ ':path': '/' }))).toBe('abcde');
  session.close();
  server.close();
});

test('every frame of a stream arrives over HTTP/1.1', async () => {
  const server = createHttp1(
    (message, response) => void answer(new Http1Incoming(message, response), response),
  );
  const port = await listening(server);
  const text = await new Promise<string>((resolve, reject) => {
    requestHttp1({ port, host: '127.0.0.1', agent: false }, (response) => resolve(textOf(response)))
      .once('error', reject)
      .end();
  });
  expect(text).toBe('abcde');
  server.close();
});
