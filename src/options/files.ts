import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { certificatesIn } from '../x509/pem.ts';
import { admissionFlags, proxyClientFlags } from './admission.ts';
import { agentFlags } from './agents.ts';
import { auditLogFlags, auditWebhookFlags } from './audit.ts';
import { authenticationFlags, frontProxyFlags, serviceAccountFlags } from './authentication.ts';
import { authorizationFlags } from './authorization.ts';
import { signingFlags } from './cluster-signing.ts';
import { explainFlag, type Flag } from './flag.ts';
import { oidcFlags } from './oidc.ts';
import type { ServerOptions } from './options.ts';
import { peerFlags } from './serving.ts';
import { storageFlags } from './storage.ts';
import { tlsFlags } from './tls.ts';

/** A file that a flag names; '' for none. */
type Named = readonly [flag: Flag, path: string];

/**
 * Reads every file that flags name, before the start. Files are read again where they are used, some only with the first
 * connection, when it is too late to report a wrong flag.
 * @throws Error, one line, that names the flag and the file
 */
export function checkFiles(options: ServerOptions): void {
  // This start may create the files in it.
  const own = join(resolve(options.storage.dataDir), '/');
  const isToCheck = ([, path]: Named): boolean => path !== '' && !resolve(path).startsWith(own);
  for (const pair of pairs(options)) checkPair(pair.filter(isToCheck));
  for (const [flag, path] of authorityFiles(options).filter(isToCheck)) {
    // As in libpq, `system` means the authorities of the host.
    if (path === 'system') continue;
    if (certificatesIn(read(flag, path)).length === 0)
      throw new Error(`${flag.shown}: ${path} holds no certificate in PEM form`);
  }
  for (const [flag, path] of otherFiles(options).filter(isToCheck)) read(flag, path);
  checkFrontProxy(options);
}

const SEPARATE_AUTHORITIES = 35;

/**
 * Where clients and front proxies share an authority, the names of proxies must be given: any client could pass for another user
 * otherwise (Kubernetes: BuiltInAuthenticationOptions.Validate).
 */
function checkFrontProxy({ api, authentication: { clientCaFile, frontProxy } }: ServerOptions): void {
  if (api.emulated < SEPARATE_AUTHORITIES || clientCaFile === '') return;
  if (frontProxy === undefined || frontProxy.allowedNames.length > 0) return;
  const { caFile, allowedNames } = frontProxyFlags;
  const clients = certificatesIn(read(authenticationFlags.clientCaFile, clientCaFile));
  const proxies = certificatesIn(read(caFile, frontProxy.caFile));
  if (!clients.some((one) => proxies.some((other) => one.equals(other)))) return;
  throw new Error(
    `${caFile.shown} and ${authenticationFlags.clientCaFile.shown} contain overlapping certificates; ` +
      `${allowedNames.shown} must be specified, or every client with a certificate could name any user in a header`,
  );
}

function otherFiles({ authentication, authorization, admission, audit }: ServerOptions): readonly Named[] {
  const { serviceAccounts, webhook } = authentication;
  return [
    [authenticationFlags.tokenAuthFile, authentication.tokenAuthFile],
    [authenticationFlags.configFile, authentication.configFile],
    [authenticationFlags.webhookConfigFile, webhook.configFile],
    ...serviceAccounts.keyFiles.map((path): Named => [serviceAccountFlags.keyFiles, path]),
    [serviceAccountFlags.signingKeyFile, serviceAccounts.signingKeyFile],
    [authorizationFlags.configFile, authorization.configFile],
    [authorizationFlags.policyFile, authorization.policyFile],
    [authorizationFlags.webhookConfigFile, authorization.webhook.configFile],
    [admissionFlags.configFile, admission.configFile],
    [auditLogFlags.policyFile, audit.policyFile],
    [auditWebhookFlags.configFile, audit.webhook.configFile],
  ];
}

const authorityFiles = ({ authentication, serving, agents, storage }: ServerOptions): readonly Named[] => [
  [authenticationFlags.clientCaFile, authentication.clientCaFile],
  [frontProxyFlags.caFile, authentication.frontProxy?.caFile ?? ''],
  [oidcFlags.caFile, authentication.oidc?.caFile ?? ''],
  [peerFlags.caFile, serving.peers?.caFile ?? ''],
  [agentFlags.caFile, agents.caFile],
  [storageFlags.caFile, storage.caFile],
];

/** A certificate and its key. */
const pairs = ({
  tls,
  agents,
  admission,
  storage,
  signing,
}: ServerOptions): readonly (readonly Named[])[] => [
  [
    [tlsFlags.certFile, tls.certFile],
    [tlsFlags.keyFile, tls.keyFile],
  ],
  ...tls.sni.map(({ certFile, keyFile }): readonly Named[] => [
    [tlsFlags.sni, certFile],
    [tlsFlags.sni, keyFile],
  ]),
  [
    [agentFlags.certFile, agents.certFile],
    [agentFlags.keyFile, agents.keyFile],
  ],
  [
    [proxyClientFlags.certFile, admission.proxyClient.certFile],
    [proxyClientFlags.keyFile, admission.proxyClient.keyFile],
  ],
  [
    [storageFlags.certFile, storage.certFile],
    [storageFlags.keyFile, storage.keyFile],
  ],
  [
    [signingFlags.certFile, signing.certFile],
    [signingFlags.keyFile, signing.keyFile],
  ],
];

function checkPair(files: readonly Named[]): void {
  const [cert, key] = files.map(([flag, path]) => read(flag, path));
  if (cert === undefined || key === undefined) return;
  const flags = [...new Set(files.map(([{ shown }]) => shown))].join(' and ');
  const paths = files.map(([, path]) => path).join(' and ');
  explainFlag(`${flags}: ${paths} are no certificate and its key`, () => createSecureContext({ cert, key }));
}

const read = (flag: Flag, path: string): string =>
  explainFlag(`${flag.shown}: ${path}`, () => readFileSync(path, 'utf8'));
