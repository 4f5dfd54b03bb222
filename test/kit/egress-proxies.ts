import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/** Where an address leads that only a proxy knows: `agent.invalid:10250` → a port of this host. */
export type Directory = Pick<ReadonlyMap<string, number>, 'get'>;

export interface EgressProxy extends AsyncDisposable {
  /** What it was asked for, in order. */
  readonly asked: string[];
  /** Connections that are open. */
  readonly open: ReadonlySet<Socket>;
}

/** How an HTTP proxy is reached: by a path, or by a port, with a certificate or without. */
export type Listening =
  | { readonly path: string }
  | { readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string } };

/** A proxy for CONNECT. What the directory does not have, it refuses with 502. */
export async function startConnectProxy(
  directory: Directory,
  listening: Listening = {},
): Promise<EgressProxy & { readonly port: number }> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server: HttpServer =
    'tls' in listening && listening.tls !== undefined
      ? createHttpsServer({ ...listening.tls, requestCert: true, rejectUnauthorized: true })
      : createHttpServer();
  server.on('connect', (request, near: Duplex) => {
    const address = request.url ?? '';
    asked.push(address);
    near.on('error', () => {});
    const port = directory.get(address);
    if (port === undefined) {
      near.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      return;
    }
    const far = track(connect(port, '127.0.0.1'), open);
    far.once('connect', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    far.once('close', () => near.destroy());
    near.once('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => {
    if ('path' in listening) server.listen(listening.path, resolve);
    else server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    ...{ asked, open },
    port: address === null || typeof address === 'string' ? 0 : (address satisfies AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function track(socket: Socket, open: Set<Socket>): Socket {
  open.add(socket);
  socket.on('error', () => {});
  socket.once('close', () => open.delete(socket));
  return socket;
}

/** Konnectivity's protocol, by its fields. */
const PACKETS = protobuf
  .parse(
    `syntax = "proto3";
   enum PacketType { DIAL_REQ = 0; DIAL_RSP = 1; CLOSE_REQ = 2; CLOSE_RSP = 3; DATA = 4; DIAL_CLS = 5; }
   message DialRequest { string protocol = 1; string address = 2; int64 random = 3; }
   message DialResponse { string error = 1; int64 connectID = 2; int64 random = 3; }
   message CloseRequest { int64 connectID = 1; }
   message CloseResponse { string error = 1; int64 connectID = 2; }
   message CloseDial { int64 random = 1; }
   message Data { int64 connectID = 1; string error = 2; bytes data = 3; }
   message Packet { PacketType type = 1; oneof payload {
     DialRequest dialRequest = 2; DialResponse dialResponse = 3; Data data = 4;
     CloseRequest closeRequest = 5; CloseResponse closeResponse = 6; CloseDial closeDial = 7; } }`,
    { keepCase: true },
  )
  .root.lookupType('Packet');

interface WirePacket {
  readonly type: number;
  readonly dialRequest?: { readonly protocol: string; readonly address: string; readonly random: unknown };
  readonly data?: { readonly connectID: unknown; readonly data: Uint8Array };
  readonly closeRequest?: { readonly connectID: unknown };
}

const TYPE = { DIAL_REQ: 0, DIAL_RSP: 1, CLOSE_REQ: 2, CLOSE_RSP: 3, DATA: 4, DIAL_CLS: 5 };

/** Konnectivity's proxy server on a Unix socket. What the directory does not have, it cannot dial. */
export async function startTunnelProxy(path: string, directory: Directory): Promise<EgressProxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = new Server();
  const codec = {
    path: '/ProxyService/Proxy',
    requestStream: true,
    responseStream: true,
    requestSerialize: encode,
    requestDeserialize: decode,
    responseSerialize: encode,
    responseDeserialize: decode,
  };
  server.addService(
    { Proxy: codec },
    {
      Proxy: (call: ServerDuplexStream<WirePacket, object>) => serveTunnel(call, directory, asked, open),
    },
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return {
    ...{ asked, open },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.forceShutdown();
    },
  };
}

const encode = (packet: object): Buffer => Buffer.from(PACKETS.encode(PACKETS.create(packet)).finish());
const decode = (bytes: Buffer): WirePacket => PACKETS.decode(bytes) as unknown as WirePacket;

/** An id that no number of JavaScript can hold. */
const CONNECT_ID = decode(Buffer.from([0x22, 0x09, 0x08, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]))
  .data?.connectID;

const sends = (sizeBytes: number): object => ({
  type: TYPE.DATA,
  data: { connectID: CONNECT_ID, data: Buffer.alloc(sizeBytes, 'x') },
});

/** Addresses behind which something sends what it should not. */
const HOSTILE: Readonly<Record<string, readonly object[]>> = {
  'late.invalid:7': [
    sends(4),
    { type: TYPE.CLOSE_RSP, closeResponse: { connectID: CONNECT_ID } },
    ...[
      sends(4),
      { type: TYPE.CLOSE_RSP, closeResponse: { connectID: CONNECT_ID, error: 'again' } },
      sends(4),
    ],
  ],
  'huge.invalid:7': [sends(5 * 1024 * 1024)],
};

function serveTunnel(
  call: ServerDuplexStream<WirePacket, object>,
  directory: Directory,
  asked: string[],
  open: Set<Socket>,
): void {
  let far: Socket | undefined;
  const isOurs = (id: unknown): void => {
    if (String(id) !== String(CONNECT_ID)) call.destroy(new Error(`unknown connection ${String(id)}`));
  };
  call.on('data', (packet: WirePacket) => {
    if (packet.type === TYPE.DIAL_REQ && packet.dialRequest !== undefined) {
      const { address, protocol, random } = packet.dialRequest;
      asked.push(`${protocol}:${address}`);
      if (address in HOSTILE) {
        call.write({ type: TYPE.DIAL_RSP, dialResponse: { connectID: CONNECT_ID, random } });
        for (const one of HOSTILE[address] ?? []) call.write(one);
        return;
      }
      const port = directory.get(address);
      if (port === undefined) {
        const error = `dial tcp: lookup ${address}: no such host`;
        call.write({ type: TYPE.DIAL_RSP, dialResponse: { error, random } });
        return;
      }
      far = track(connect(port, '127.0.0.1'), open);
      far.once('connect', () =>
        call.write({ type: TYPE.DIAL_RSP, dialResponse: { connectID: CONNECT_ID, random } }),
      );
      far.on('data', (data) => call.write({ type: TYPE.DATA, data: { connectID: CONNECT_ID, data } }));
      far.once('close', () =>
        call.write({ type: TYPE.CLOSE_RSP, closeResponse: { connectID: CONNECT_ID } }, () => call.end()),
      );
    } else if (packet.type === TYPE.DATA) {
      isOurs(packet.data?.connectID);
      far?.write(packet.data?.data ?? Buffer.alloc(0));
    } else if (packet.type === TYPE.CLOSE_REQ) {
      isOurs(packet.closeRequest?.connectID);
      far?.end();
    }
  });
  call.on('error', () => {});
  call.on('close', () => far?.destroy());
  call.on('end', () => far?.end());
}

/** A folder for sockets, whose paths must be short. */
export function socketFolder(): Disposable & { at(name: string): string } {
  const folder = mkdtempSync(join(tmpdir(), 'egress-'));
  return {
    at: (name) => join(folder, name),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
