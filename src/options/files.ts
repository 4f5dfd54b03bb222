import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { certificatesIn } from '../x509/pem.ts';
import { admissionFlags, proxyClientFlags } from './admission.ts';
import { agentFlags } from './agents.ts';
import { auditLogFlags, auditWebhookFlags } from './audit.ts';
import { authenticationFlags, frontProxyFlags, serviceAccountFlags } from './authentication.ts';
import { authorizationFlags } from './authorization.ts';
import { explainFlag, type Flag } from './flag.ts';
import { oidcFlags } from './oidc.ts';
import type { ServerOptions } from './options.ts';
import { storageFlags } from './storage.ts';
import { tlsFlags } from './tls.ts';

/** A file that a flag names; '' for none. */
type Named = readonly [flag: Flag, path: string];

/**
 * Reads every file that flags name, before anything is begun. Whoever uses a file reads it again later: some only with the first
 * connection, when nobody is there any more to be told which flag was wrong.
 * @throws Error, one line, that names the flag and the file
 */
export function checkFiles(options: ServerOptions): void {
  for (const [cert, key] of pairs(options)) checkPair(cert, key);
  for (const [flag, path] of authorityFiles(options)) {
    // As libpq has it, `system` stands for the authorities of the host.
    if (path === '' || path === 'system') continue;
    if (certificatesIn(read(flag, path)).length === 0)
      throw new Error(`${flag.shown}: ${path} holds no certificate in PEM form`);
  }
  for (const [flag, path] of otherFiles(options)) if (path !== '') read(flag, path);
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

const authorityFiles = ({ authentication, agents, storage }: ServerOptions): readonly Named[] => [
  [authenticationFlags.clientCaFile, authentication.clientCaFile],
  [frontProxyFlags.caFile, authentication.frontProxy?.caFile ?? ''],
  [oidcFlags.caFile, authentication.oidc?.caFile ?? ''],
  [agentFlags.caFile, agents.caFile],
  [storageFlags.caFile, storage.caFile],
];

const pairs = ({ tls, agents, admission, storage }: ServerOptions): readonly [Named, Named][] => [
  [
    [tlsFlags.certFile, tls.certFile],
    [tlsFlags.keyFile, tls.keyFile],
  ],
  ...tls.sni.map(({ certFile, keyFile }): [Named, Named] => [
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
];

function checkPair([certFlag, certFile]: Named, [keyFlag, keyFile]: Named): void {
  const cert = certFile === '' ? undefined : read(certFlag, certFile);
  const key = keyFile === '' ? undefined : read(keyFlag, keyFile);
  if (cert === undefined || key === undefined) return;
  const flags = [...new Set([certFlag.shown, keyFlag.shown])].join(' and ');
  explainFlag(`${flags}: ${certFile} and ${keyFile} are no certificate and its key`, () =>
    createSecureContext({ cert, key }),
  );
}

const read = (flag: Flag, path: string): string =>
  explainFlag(`${flag.shown}: ${path}`, () => readFileSync(path, 'utf8'));
