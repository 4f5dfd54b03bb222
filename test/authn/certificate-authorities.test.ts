import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CertificateAuthorities } from '../../src/authn/client-certificate.ts';
import type { PeerCertificate } from '../../src/request/api-request.ts';
import { Authority, type LeafOptions } from '../kit/pki.ts';

const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

const peerOf = async (authority: Authority, options: Partial<LeafOptions> = {}): Promise<PeerCertificate> => {
  const { cert } = await authority.issue({ subject: 'CN=alice, O=people', ...options });
  return { chain: [new X509Certificate(cert).raw] };
};

function trusting(authority: Authority): CertificateAuthorities {
  const path = join(mkdtempSync(join(tmpdir(), 'authorities-')), 'ca.crt');
  writeFileSync(path, authority.pem);
  return new CertificateAuthorities('client-ca-file', [path], () => {});
}

function refusalOf(authorities: CertificateAuthorities, peer: PeerCertificate): Error {
  try {
    authorities.verify(peer);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it was trusted');
}

test('a refused chain is verified once for each connection', async () => {
  const authorities = trusting(await Authority.create('ours'));
  const stranger = await peerOf(await Authority.create('theirs'));
  const refusal = refusalOf(authorities, stranger);
  expect(refusal.message).toBe('x509: certificate signed by unknown authority');
  expect(refusalOf(authorities, stranger)).toBe(refusal);
});

test('a certificate is refused before its time and after it, and trusted in between, on one connection', async () => {
  const authority = await Authority.create('ours');
  const authorities = trusting(authority);
  const now = Date.now();
  const [begins, ends] = [now + HOUR_MS / 4, now + HOUR_MS / 2];
  const peer = await peerOf(authority, { notBefore: new Date(begins), notAfter: new Date(ends) });
  vi.useFakeTimers({ toFake: ['Date'], now });
  expect(refusalOf(authorities, peer).message).toMatch(/not yet valid/);
  vi.setSystemTime(begins + 1000);
  expect(authorities.verify(peer)).toMatchObject({ commonName: 'alice', organizations: ['people'] });
  expect(authorities.verify(peer)).toBe(authorities.verify(peer));
  vi.setSystemTime(ends + 1000);
  expect(refusalOf(authorities, peer).message).toMatch(/has expired/);
});
