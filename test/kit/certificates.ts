import { readFileSync } from 'node:fs';
import { type ClusterCertificates, ensureCertificates } from '../../src/cli/certificates.ts';

/** Certificates of a cluster of its own, made in the folder, good for the addresses. */
export const makeCertificates = (
  folder: string,
  addresses: readonly string[],
): Promise<ClusterCertificates> => ensureCertificates(folder, addresses);

/** What a server of the cluster shows, as PEM. */
export const servingPair = ({ serving }: ClusterCertificates): { certificate: string; key: string } => ({
  certificate: readFileSync(serving.certFile, 'utf8'),
  key: readFileSync(serving.keyFile, 'utf8'),
});
