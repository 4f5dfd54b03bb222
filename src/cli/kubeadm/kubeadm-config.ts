import { createHash, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stringify } from 'yaml';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import { authenticationFlags } from '../../options/authentication.ts';
import { authorizationFlags } from '../../options/authorization.ts';
import { UsageError } from '../../options/flag.ts';
import { type RemoteServer, readClientConfig } from '../../outbound/client-config.ts';
import { pause } from '../../util/pause.ts';
import { certificatesIn } from '../../x509/pem.ts';
import { ClusterClient, messageOf } from './cluster-client.ts';
import { kubeadmFlags, readKubeadmFlags } from './kubeadm-flags.ts';
import { kubeadmObjects } from './kubeadm-objects.ts';

const tell = (line: string): void => void process.stdout.write(`${line}\n`);
const note = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * `kubeadm-config [--apply]`: prints what `kubeadm join` reads, for `kubectl apply -f -`, or writes it to the cluster and looks at
 * it as a joining node does. Asks the server for its version. Ends with the line to type on the node.
 * @throws UsageError, or Error with a message of one line
 */
export async function configureKubeadm(args: readonly string[]): Promise<void> {
  const options = readKubeadmFlags(args);
  if (!existsSync(options.kubeconfig))
    throw new UsageError(
      `there is no ${options.kubeconfig}: start a server first, or name a kubeconfig with ${kubeadmFlags.kubeconfig.shown}=`,
    );
  const server = readClientConfig(options.kubeconfig);
  const ca = authorityOf(server, options.kubeconfig);
  const endpoint = options.endpoint === '' ? hostOf(server.url) : options.endpoint;
  if (options.endpoint === '' && isLoopback(endpoint))
    note(
      `${endpoint} is an address of this machine alone: name one that nodes reach with ${kubeadmFlags.endpoint.shown}=host:port`,
    );
  const { token, tokenTtlMs } = options;
  const expiresAt = tokenTtlMs === 0 ? undefined : new Date(Date.now() + tokenTtlMs);
  const client = new ClusterClient(server);
  const version = await versionOf(client);
  const objects = kubeadmObjects({ ...options, endpoint, ca, version }, { token, expiresAt }, options);
  const command = joinCommand(endpoint, token, ca);
  if (!options.apply) {
    for (const object of objects) tell(`---\n${stringify(object, { blockQuote: 'literal' }).trimEnd()}`);
    note(`\nafter kubectl apply -f - of the above, on each node:\n\n  ${command}\n`);
    return;
  }
  for (const object of objects) await client.apply(object);
  await checkAsNode(client, token);
  const validity = expiresAt === undefined ? 'for ever' : `until ${expiresAt.toISOString().slice(0, 16)}Z`;
  tell(`wrote ${objects.length} objects; on each node, ${validity}:\n\n  ${command}\n`);
}

/**
 * `v1.36.0`, without the build behind it. kubeadm joins clusters of its own minor version and of the one before.
 * @throws Error when the server does not say it
 */
async function versionOf(client: ClusterClient): Promise<string> {
  const { code, object } = await client.get({ as: 'admin' }, '/version');
  const [version = ''] = typeof object.gitVersion === 'string' ? object.gitVersion.split('+') : [];
  if (code === 200 && version !== '') return version;
  throw new Error(`the server does not say its version: ${messageOf(object, code)}`);
}

function authorityOf({ ca }: RemoteServer, kubeconfig: string): string {
  if (ca !== undefined && certificatesIn(ca).length > 0) return ca;
  throw new Error(
    `${kubeconfig}: the cluster needs certificate-authority-data, by which nodes know the server`,
  );
}

/** With its port, which URLs leave out where it is 443. */
function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || '443'}`;
}

const isLoopback = (endpoint: string): boolean => /^(localhost|127\.[\d.]+|\[::1\]):\d+$/.test(endpoint);

/** kubeadm pins the keys of all authorities, of which one suffices. */
function joinCommand(endpoint: string, token: string, ca: string): string {
  const pins = certificatesIn(ca).map((der) => `--discovery-token-ca-cert-hash ${pinOf(der)}`);
  return ['kubeadm join', endpoint, `--token ${token}`, ...pins].join(' ');
}

function pinOf(der: Buffer): string {
  const key = new X509Certificate(der).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

const CLUSTER_INFO = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
const CLUSTER_CONFIGURATION = '/api/v1/namespaces/kube-system/configmaps/kubeadm-config';
/** Another server of the cluster may have to take over the upkeep first. */
const PATIENCE_MS = 40_000;
const PERIOD_MS = 500;

/** The first requests of `kubeadm join`. @throws Error that names what keeps nodes from joining */
async function checkAsNode(client: ClusterClient, token: string): Promise<void> {
  await untilAccepted(client, token);
  const [id = ''] = token.split('.');
  for (const endMs = Date.now() + PATIENCE_MS; ; await pause(PERIOD_MS)) {
    const { code, object } = await client.get({ as: 'anonymous' }, CLUSTER_INFO);
    if (code === 200 && hasSignature(object, id)) return;
    if (Date.now() < endMs) continue;
    throw new Error(
      code === 200
        ? 'kube-public/cluster-info is not signed with the token: a controller manager that is at work needs --controllers=*,bootstrapsigner'
        : `nodes cannot read kube-public/cluster-info without a token (${messageOf(object, code)}): the server needs ${authenticationFlags.anonymousAuth.shown} and ${authorizationFlags.modes.shown}=Node,RBAC`,
    );
  }
}

/** The server sees the token and its rights a moment later. */
async function untilAccepted(client: ClusterClient, token: string): Promise<void> {
  const { shown } = authenticationFlags.bootstrapTokens;
  for (const endMs = Date.now() + 5000; ; await pause(PERIOD_MS)) {
    const { code, object } = await client.get({ as: 'token', token }, CLUSTER_CONFIGURATION);
    if (code === 200) return;
    if (Date.now() < endMs) continue;
    throw new Error(
      code === 401
        ? `the server does not take bootstrap tokens: start it with ${shown}`
        : `a joining node cannot read kube-system/kubeadm-config: ${messageOf(object, code)}`,
    );
  }
}

const hasSignature = ({ data }: JsonObject, id: string): boolean =>
  isObject(data) && data[`jws-kubeconfig-${id}`] !== undefined;
