import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureCertificates } from '../../src/cli/certificates.ts';
import { chooseSigningPair, findAuthority } from '../../src/cli/serving-pair.ts';
import { parseOptions } from '../../src/options/options.ts';
import { Authority } from '../kit/pki.ts';

const trimmed = (pem: string): string => pem.replaceAll(/\s+/g, '');

test('a certificate that the cluster signed is verified by its authority, as it is written', async () => {
  const own = await Authority.create('own');
  const { cert } = await own.issue({ subject: 'CN=server', serves: true });
  expect(findAuthority(cert, own.pem)).toBe(own.pem);
});

test('a certificate from a file is verified by the root in its chain, or by the certificate itself', async () => {
  const own = await Authority.create('own');
  const other = await Authority.create('other');
  const { cert } = await other.issue({ subject: 'CN=server', serves: true });
  expect(trimmed(findAuthority(`${cert}${other.pem}`, own.pem))).toBe(trimmed(other.pem));
  expect(trimmed(findAuthority(cert, own.pem))).toBe(trimmed(cert));
});

test('the authority of client certificates signs requests: the one made here, one from the flags, or none whose key is elsewhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-signing-pair-'));
  const certificates = await ensureCertificates(folder, []);
  rmSync(folder, { recursive: true });
  const own = { certFile: join(folder, 'ca.crt'), keyFile: join(folder, 'ca.key') };
  const choose = (...flags: string[]) => chooseSigningPair(parseOptions(flags), certificates);
  const given = ['--cluster-signing-cert-file=c', '--cluster-signing-key-file=k'];
  expect(choose()).toEqual(own);
  expect(choose('--client-ca-file=other')).toBeUndefined();
  expect(choose(...given)).toEqual({ certFile: 'c', keyFile: 'k' });
  expect(choose(...given, '--client-ca-file=other')).toEqual({ certFile: 'c', keyFile: 'k' });
});
