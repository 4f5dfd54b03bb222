import type { UserInfo } from '../request/api-request.ts';
import type { Authentication, Authenticator } from './authenticator.ts';
import type { CertificateAuthorities, TrustedPeer } from './certificate-authorities.ts';

/**
 * --client-ca-file: a certificate signed by one of the authorities, directly or through intermediates that the client sends,
 * names its user (CN) and groups (O).
 */
export function createCertificateAuthenticator(authorities: CertificateAuthorities): Authenticator {
  const users = new WeakMap<TrustedPeer, Authentication>();
  return {
    authenticate: ({ peerCertificate }) => {
      if (peerCertificate === undefined) return undefined;
      const peer = authorities.verify(peerCertificate);
      let found = users.get(peer);
      if (found === undefined) {
        found = { user: toUser(peer) };
        users.set(peer, found);
      }
      return found;
    },
  };
}

function toUser({ leaf, commonName, organizations }: TrustedPeer): UserInfo {
  if (commonName === '') throw new Error('x509: the certificate names no user');
  const fingerprint = leaf.fingerprint256.replaceAll(':', '').toLowerCase();
  return {
    username: commonName,
    uid: '',
    groups: organizations,
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
}
