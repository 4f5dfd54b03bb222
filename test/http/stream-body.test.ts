import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { openBody } from '../../src/http/stream-body.ts';

const FRAMES = [1, 15, 16, 17, 0, 4096, 100_000].map((size) => Buffer.alloc(size, `${size},`));

/** All bytes that a server answers to what is sent in one go, until it hangs up. */
async function answerTo(text: string, listener: RequestListener): Promise<string> {
  const server = createServer({ keepAlive: true }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(text);
  const received: Buffer[] = [];
  for await (const piece of socket) received.push(piece as Buffer);
  server.close();
  return Buffer.concat(received).toString('latin1');
}

const sendBody: RequestListener = (_, outgoing) => {
  outgoing.sendDate = false;
  outgoing.writeHead(200).flushHeaders();
  const body = openBody(outgoing);
  for (const frame of FRAMES) body.write(frame);
  body.end();
};

const sendPlainly: RequestListener = (_, outgoing) => {
  outgoing.sendDate = false;
  outgoing.writeHead(200).flushHeaders();
  for (const frame of FRAMES) outgoing.write(frame);
  outgoing.end();
};

const get = (version: string, header: string): string => `GET / HTTP/${version}\r\nHost: x\r\n${header}\r\n`;

test.each([
  ['one after the other on a connection that is kept', get('1.1', '') + get('1.1', 'Connection: close\r\n')],
  ['without chunks to HTTP/1.0', get('1.0', '')],
])('a stream has the very bytes that Node.js would send: %s', async (_, requests) => {
  const sent = await answerTo(requests, sendBody);
  expect(sent).toBe(await answerTo(requests, sendPlainly));
  expect(sent.match(/HTTP\/1\.1 200/g)).toHaveLength(requests.split('GET').length - 1);
});

test('every client of HTTP/1.1 is sent the same buffer', async () => {
  const written: unknown[] = [];
  const frame = Buffer.from('shared');
  for (const _ of [1, 2]) {
    const outgoing = { chunkedEncoding: true, write: (bytes: unknown) => written.push(bytes) > 0 };
    openBody(outgoing as never).write(frame);
  }
  expect(String(written[0])).toBe('6\r\nshared\r\n');
  expect(written[1]).toBe(written[0]);
});

test.each([true, false])(
  'a stream is full when 256 kB wait for its client, in chunks: %s',
  (chunkedEncoding) => {
    const outgoing = {
      chunkedEncoding,
      writableLength: 0,
      write: ({ length }: Buffer) => {
        outgoing.writableLength += length;
        return outgoing.writableLength < 64 * 1024;
      },
    };
    const body = openBody(outgoing as never);
    let frames = 1;
    while (body.write(Buffer.alloc(8000))) frames += 1;
    expect(frames).toBe(33);
    outgoing.writableLength = 0;
    expect(body.write(Buffer.alloc(8000))).toBe(true);
  },
);
