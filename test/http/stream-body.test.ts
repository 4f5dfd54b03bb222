import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { openBody } from '../../src/http/stream-body.ts';
import { PATIENCE } from '../kit/patience.ts';

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

const endTurn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** An answer that notes what is done with it, and with its connection on HTTP/1.1. */
function notedAnswer(chunkedEncoding: boolean) {
  const done: (Buffer | string)[] = [];
  const outlet = {
    writableLength: 0,
    write: (bytes: Buffer) => {
      done.push(bytes);
      outlet.writableLength += bytes.length;
      return outlet.writableLength < 64 * 1024;
    },
    cork: () => void done.push('cork'),
    uncork: () => void done.push('uncork'),
    end: (bytes?: Buffer) => void done.push(bytes ?? 'end'),
    once: () => {},
    removeListener: () => {},
  };
  return { done, outlet, outgoing: { ...outlet, chunkedEncoding, socket: chunkedEncoding ? outlet : null } };
}

test('every client of HTTP/1.1 is sent the same buffer', async () => {
  const answers = [1, 2].map(() => notedAnswer(true));
  const frame = Buffer.from('shared');
  for (const { outgoing } of answers) openBody(outgoing as never).write(frame);
  await endTurn();
  const [first, second] = answers.map(({ done }) => done);
  expect(first?.map(String)).toEqual(['6\r\nshared\r\n']);
  expect(second?.[0]).toBe(first?.[0]);
});

test.each([true, false])(
  'frames of one turn are sent together, and those of the next turn apart, in chunks: %s',
  async (chunked) => {
    const { done, outgoing } = notedAnswer(chunked);
    const shown = (text: string): string => (chunked ? `1\r\n${text}\r\n` : text);
    const body = openBody(outgoing as never);
    for (const text of ['a', 'b', 'c']) body.write(Buffer.from(text));
    expect(done).toEqual([]);
    await endTurn();
    expect(done.splice(0).map(String)).toEqual(['cork', shown('a'), shown('b'), shown('c'), 'uncork']);
    body.write(Buffer.from('d'));
    await endTurn();
    expect(done.splice(0).map(String)).toEqual([shown('d')]);
    body.write(Buffer.from('e'));
    body.end();
    expect(done.map(String)).toEqual([shown('e'), chunked ? '0\r\n\r\n' : 'end']);
  },
);

test.each([true, false])(
  'a stream is full when 256 kB wait for its client, in chunks: %s',
  async (chunkedEncoding) => {
    const { outlet } = notedAnswer(chunkedEncoding);
    const body = openBody(
      Object.assign(outlet, { chunkedEncoding, socket: chunkedEncoding ? outlet : null }) as never,
    );
    let frames = 1;
    while (body.write(Buffer.alloc(8000))) frames += 1;
    expect(frames).toBe(33);
    await endTurn();
    expect(body.write(Buffer.alloc(1))).toBe(false);
    await endTurn();
    outlet.writableLength = 0;
    expect(body.write(Buffer.alloc(8000))).toBe(true);
  },
);

test.each([
  ['on its connection', 1],
  ['behind an earlier answer', 2],
])('a client that reads late gets everything, and its source waits meanwhile: %s', async (_, requests) => {
  const frame = Buffer.alloc(100_000, 'x');
  const earlier: (() => void)[] = [];
  let waits = 0;
  const server = createServer({ keepAlive: true }, async (request, outgoing) => {
    if (request.url === '/earlier') {
      earlier.push(() => outgoing.end());
      return;
    }
    outgoing.writeHead(200, { connection: 'close' }).flushHeaders();
    const body = openBody(outgoing);
    for (let sent = 0; sent < 200; sent += 1) {
      if (body.write(frame)) continue;
      waits += 1;
      // The earlier answer ends when this one has begun to wait.
      earlier.shift()?.();
      await new Promise<void>((resolve) => body.outlet.once('drain', resolve));
    }
    body.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  socket.write(requests === 1 ? head('/') : head('/earlier') + head('/'));
  await vi.waitFor(() => expect(waits).toBeGreaterThan(0), PATIENCE);
  let received = 0;
  for await (const piece of socket) received += (piece as Buffer).length;
  server.close();
  expect(received).toBeGreaterThan(200 * frame.length);
});
