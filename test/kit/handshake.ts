import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readName } from '../../src/x509/name.ts';

const [HANDSHAKE, CHANGE_CIPHER_SPEC] = [22, 20];
const CERTIFICATE_REQUEST = 13;

/**
 * Common names of the authorities that a server names in its handshake. TLS 1.2 sends them in the clear (RFC 5246, section
 * 7.4.4), and Node does not show them: so a relay listens to a handshake.
 */
export async function acceptedAuthorities(port: number, servername?: string): Promise<string[]> {
  const heard: Buffer[] = [];
  const relay = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far);
    far.on('data', (chunk: Buffer) => heard.push(chunk));
    far.pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port: relayPort } = relay.address() as AddressInfo;
  const socket = connectTls({
    port: relayPort,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    ...(servername === undefined ? {} : { servername }),
  });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  } finally {
    socket.destroy();
    relay.close();
  }
  return parseRequest(messagesOf(Buffer.concat(heard)));
}

/** What of the handshake is in the clear, without the records it came in. */
function messagesOf(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; bytes[at] === HANDSHAKE; ) {
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, end));
    if (bytes[end] === CHANGE_CIPHER_SPEC) break;
    at = end;
  }
  return Buffer.concat(parts);
}

function parseRequest(messages: Buffer): string[] {
  let at = 0;
  while (at < messages.length && messages[at] !== CERTIFICATE_REQUEST)
    at += 4 + messages.readUIntBE(at + 1, 3);
  if (at >= messages.length) throw new Error('the server asked for no certificate');
  const body = messages.subarray(at + 4, at + 4 + messages.readUIntBE(at + 1, 3));
  const afterTypes = 1 + body.readUInt8(0);
  let next = afterTypes + 2 + body.readUInt16BE(afterTypes) + 2;
  const names: string[] = [];
  while (next < body.length) {
    const length = body.readUInt16BE(next);
    names.push(readName(body.subarray(next + 2, next + 2 + length)).commonName);
    next += 2 + length;
  }
  return names;
}
