import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseCidr } from '../../object/ip.ts';
import { notNegative } from '../../options/checks.ts';
import { DEFAULT_CLUSTER_IP_RANGE, serviceFlags } from '../../options/cluster-services.ts';
import { parseFlags } from '../../options/command-line.ts';
import { bool, duration, text, UsageError } from '../../options/flag.ts';
import { ownFlags } from '../../options/storage.ts';

/** Flags of `kubeadm-config`; those that `kubeadm init` has too are named as there. */
export const kubeadmFlags = {
  apply: bool('apply', {
    default: false,
    meaning: 'write the objects to the cluster rather than print them',
  }),
  kubeconfig: text('kubeconfig', {
    default: '',
    meaning: `the cluster's kubeconfig; $KUBECONFIG or admin.kubeconfig of ${ownFlags.dataDir.shown} when empty`,
  }),
  endpoint: text('control-plane-endpoint', {
    default: '',
    meaning: 'host:port at which nodes reach the server; that of the kubeconfig when empty',
    check: hostAndPort,
  }),
  token: text('token', {
    default: '',
    meaning: 'the bootstrap token, such as abcdef.0123456789abcdef; a random one when empty',
    check: bootstrapToken,
  }),
  tokenTtlMs: duration('token-ttl', {
    default: '24h0m0s',
    meaning: 'how long the token is good; 0 for ever',
    check: notNegative,
  }),
  kubeProxy: bool('with-kube-proxy', {
    default: false,
    meaning: "the config map of kube-proxy too, whose DaemonSet is the cluster's own",
  }),
  podNetwork: text('pod-network-cidr', {
    default: '',
    meaning: 'addresses of pods, for kubeadm and kube-proxy',
    check: cidrs,
  }),
  dnsDomain: text('service-dns-domain', { default: 'cluster.local', meaning: 'domain of services' }),
};

/** Flags of the server too, so that its command line can be repeated. */
const SHARED = {
  clusterIpRanges: text(serviceFlags.clusterIpRanges.name, {
    default: '',
    meaning: serviceFlags.clusterIpRanges.meaning,
    check: serviceRange,
  }),
  dataDir: ownFlags.dataDir,
};

/** @throws UsageError */
export function readKubeadmFlags(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const flags = { ...kubeadmFlags, ...SHARED };
  const { kubeconfig, dataDir, ...options } = parseFlags(args, Object.values(flags)).valuesOf(flags);
  const given = kubeconfig === '' ? (env.KUBECONFIG ?? '') : kubeconfig;
  return { ...options, kubeconfig: given === '' ? resolve(dataDir, 'admin.kubeconfig') : given };
}

/** `10.0.0.0/24`, or two with a comma, checked as the server checks them. */
function serviceRange(ranges: string): string {
  serviceFlags.clusterIpRanges.read([ranges]);
  return ranges === '' ? DEFAULT_CLUSTER_IP_RANGE : ranges;
}

/** `10.244.0.0/16`, or two with a comma. */
function cidrs(given: string, flag: string): string {
  const wrong = given.split(',').find((one) => given !== '' && parseCidr(one) === undefined);
  if (wrong === undefined) return given;
  throw new UsageError(`${flag}: ${JSON.stringify(wrong)} is not a CIDR such as 10.244.0.0/16`);
}

const DEFAULT_PORT = '6443';

/** `host:port`; '' for that of the kubeconfig. */
function hostAndPort(given: string, flag: string): string {
  if (given === '') return '';
  const url = `https://${given}`;
  const { host, port, hostname, pathname } = URL.canParse(url) ? new URL(url) : new URL('https://none/wrong');
  if (pathname !== '/' || given.includes('@'))
    throw new UsageError(
      `${flag}: ${JSON.stringify(given)} is not a host and a port such as api.example.com:6443`,
    );
  // URLs leave out the port 443.
  const isPortGiven = port !== '' || given.endsWith(':443');
  return isPortGiven ? `${hostname}:${port || '443'}` : `${host}:${DEFAULT_PORT}`;
}

const TOKEN = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;

function bootstrapToken(given: string, flag: string): string {
  if (given === '') return createToken();
  if (TOKEN.test(given)) return given;
  // The value may be a secret with a mistake in it.
  throw new UsageError(
    `${flag}: a token has 6 letters or digits, a point, and 16 more, such as abcdef.0123456789abcdef`,
  );
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const random = (length: number): string =>
  Array.from({ length }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');

const createToken = (): string => `${random(6)}.${random(16)}`;
