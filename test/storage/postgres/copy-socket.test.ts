import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { CopySocket } from '../../../src/storage/postgres/read/copy-socket.ts';

function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(letter), length, body]);
}

async function connect(): Promise<{ socket: CopySocket; peer: Socket } & AsyncDisposable> {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const socket = new CopySocket();
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = (await connected) as [Socket];
  return {
    socket,
    peer,
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      peer.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** In pieces of any size, some of them at once. */
async function send(peer: Socket, bytes: Buffer, sizeOf: () => number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOf();
    peer.write(bytes.subarray(at, at + size));
    at += size;
    if (size % 3 === 0) await new Promise(setImmediate);
  }
}

test('rows are handed on, and all other messages are heard as from any socket, at every cut of the stream', async () => {
  const sizes = [0, 1, 7600, 900_000, 16_384, 3, 262_139, 262_144, 1, ...Array(200).fill(7600)];
  const rows = sizes.map((size, at) => Buffer.alloc(size, at % 251));
  const notice = message('N', Buffer.from('a notice'));
  const begin = message('H', Buffer.alloc(7));
  const end = Buffer.concat([message('c', Buffer.alloc(0)), message('Z', Buffer.from('I'))]);
  const noticesAt = (at: number): Buffer[] => (at % 5 === 0 ? [notice] : []);
  const stream = Buffer.concat([
    begin,
    ...rows.flatMap((row, at) => [message('d', row), ...noticesAt(at)]),
    end,
  ]);
  const others = Buffer.concat([begin, ...rows.flatMap((_, at) => noticesAt(at)), end]).toString('latin1');
  for (const sizeOf of [() => 65_536, () => 1 + Math.floor(Math.random() * 20_000), () => stream.length]) {
    await using connection = await connect();
    const { socket, peer } = connection;
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    const until = async (text: string): Promise<void> => {
      while (!heard.endsWith(text)) await once(socket, 'data');
    };
    peer.write('before');
    await until('before');
    const taken: Buffer[] = [];
    socket.divert((bytes, from, to) => taken.push(Buffer.from(bytes.subarray(from, to))));
    void send(peer, stream, sizeOf);
    await until(end.toString('latin1'));
    socket.divert(undefined);
    peer.write('after');
    await until('after');
    expect(taken.length).toBe(rows.length);
    expect(taken.every((row, at) => row.equals(rows[at] ?? notice))).toBe(true);
    expect(heard).toBe(`before${others}after`);
  }
});
