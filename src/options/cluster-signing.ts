import { bothOrNeither } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { duration, text, UsageError } from './flag.ts';

/** Flags of kube-controller-manager: this server signs where there is none. */
export const signingFlags = {
  certFile: text('cluster-signing-cert-file', {
    default: '',
    meaning:
      'PEM certificate of the authority that signs approved CertificateSigningRequests while no controller manager is at work; the authority in --data-dir when empty, and none with --client-ca-file',
  }),
  keyFile: text('cluster-signing-key-file', {
    default: '',
    meaning: 'PEM private key (RSA, ECDSA or Ed25519) of --cluster-signing-cert-file',
  }),
  durationMs: duration('cluster-signing-duration', {
    default: '8760h0m0s',
    meaning:
      'longest validity of signed certificates; requests may ask for less by spec.expirationSeconds, and none outlives its authority',
    check: atLeastTenMinutes,
  }),
};

/** How CertificateSigningRequests are signed. '' for both files: by the cluster's own authority. @throws UsageError */
export function readClusterSigning(line: CommandLine) {
  const signing = line.valuesOf(signingFlags);
  bothOrNeither(
    { flag: signingFlags.certFile, file: signing.certFile },
    { flag: signingFlags.keyFile, file: signing.keyFile },
  );
  return Object.freeze(signing);
}

const SHORTEST_MS = 600_000;

/** The shortest time that a request may ask for. */
function atLeastTenMinutes(ms: number, flag: string): number {
  if (ms < SHORTEST_MS) throw new UsageError(`${flag} must be at least 10m`);
  return ms;
}
