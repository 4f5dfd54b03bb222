import type { HostileRequest } from '../../kit/hostile-request.ts';

/** Requests for certificates, whose text is PEM around base64 around DER. */
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const ROOM = 2 * 1024 * 1024;

const post = (name: string, pem: () => string): HostileRequest => ({
  name,
  method: 'POST',
  path: REQUESTS,
  body: () =>
    JSON.stringify({
      metadata: { generateName: 'hostile-' },
      spec: {
        request: Buffer.from(pem()).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    }),
});

const repeat = (piece: string): string => piece.repeat(Math.floor(ROOM / piece.length));
const block = (content: string): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${content}\n-----END CERTIFICATE REQUEST-----\n`;

export const CERTIFICATES: readonly HostileRequest[] = [
  post('blocks that begin and never end', () => repeat('-----BEGIN CERTIFICATE REQUEST-----\n')),
  post('blocks that end and never begin', () => repeat('-----END CERTIFICATE REQUEST-----\n')),
  post('blocks of other labels inside of one', () => block(repeat('-----BEGIN A-----\n'))),
  post('many small blocks', () => repeat(block('AAAA'))),
  post('a header of colons', () => block(repeat(':'))),
  post('headers without end', () => block(repeat('a: b\n'))),
  post('hyphens', () => repeat('-')),
  post('a block of zeros', () => block(repeat('A'))),
  post('sequences nested deep', () =>
    block(Buffer.alloc(ROOM / 2, Buffer.of(0x30, 0x80)).toString('base64')),
  ),
  post('empty sequences', () =>
    block(
      Buffer.concat([
        Buffer.of(0x30, 0x83, 0x10, 0, 0),
        Buffer.alloc(1024 * 1024, Buffer.of(0x30, 0)),
      ]).toString('base64'),
    ),
  ),
];
