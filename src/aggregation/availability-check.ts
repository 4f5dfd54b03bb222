import type { Finding } from '../object/conditions.ts';
import { authorityOf, BackendError, type BackendTransport } from '../request/backend.ts';
import { errorText } from '../util/error-text.ts';
import type { RemoteVersion, ServiceAddress } from './managed-api-services.ts';
import { AGGREGATOR, userHeaders } from './remote-user.ts';
import type { ServiceResolver } from './service-resolver.ts';

export interface CheckParts {
  readonly resolver: Pick<ServiceResolver, 'resolve' | 'service' | 'subsets'>;
  readonly transport: BackendTransport;
}

/** An address may have several servers behind it, one of which must answer. */
const ATTEMPTS = 5;
const ATTEMPT_MS = 5000;

/**
 * Checks whether a group version of another server is available, with the reasons and messages of Kubernetes (kube-aggregator,
 * controllers/status).
 */
export async function checkAvailability(
  parts: CheckParts,
  remote: RemoteVersion,
  signal: AbortSignal,
): Promise<Finding> {
  const missing = await findMissing(parts, remote.service);
  if (missing !== undefined) return missing;
  const failure = await findFailure(parts, remote, signal);
  return failure === undefined
    ? { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }
    : unavailable('FailedDiscoveryCheck', failure);
}

const unavailable = (reason: string, message: string): Finding => ({
  ...{ type: 'Available', status: 'False' },
  ...{ reason, message },
});

/** Missing objects that are needed to find the server. */
async function findMissing(
  { resolver }: CheckParts,
  { namespace, name, port }: ServiceAddress,
): Promise<Finding | undefined> {
  const shown = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = await resolver.service(namespace, name);
  if (service === undefined) return unavailable('ServiceNotFound', `${shown} is not present`);
  const { type = 'ClusterIP', ports = [] } = service.spec ?? {};
  if (type !== 'ClusterIP') return undefined;
  const found = (ports ?? []).find((one) => one.port === port);
  if (found === undefined)
    return unavailable('ServicePortError', `${shown} is not listening on port ${port}`);
  const subsets = await resolver.subsets(namespace, name);
  if (subsets === undefined) return unavailable('EndpointsNotFound', `cannot find endpoints for ${shown}`);
  const portName = found.name ?? '';
  const isServed = subsets.some(
    ({ addresses, ports: served }) => addresses.length > 0 && served.some((one) => one.name === portName),
  );
  const message = `endpoints for ${shown} have no addresses with port name ${JSON.stringify(portName)}`;
  return isServed ? undefined : unavailable('MissingEndpoints', message);
}

/** Why all attempts failed; undefined: one succeeded. */
async function findFailure(
  parts: CheckParts,
  remote: RemoteVersion,
  signal: AbortSignal,
): Promise<string | undefined> {
  const enough = new AbortController();
  const until = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(ATTEMPT_MS)]);
  const attempts = Array.from({ length: ATTEMPTS }, () => attempt(parts, remote, until));
  try {
    await Promise.any(attempts);
    return undefined;
  } catch (error) {
    return errorText(error instanceof AggregateError ? error.errors.at(-1) : error);
  } finally {
    enough.abort();
  }
}

/**
 * Makes one attempt. The certificate is not verified, because an attacker who can answer could do worse; the proxy
 * verifies it on each call. @throws Error
 */
async function attempt(
  { resolver, transport }: CheckParts,
  { group, version, service, tls }: RemoteVersion,
  signal: AbortSignal,
): Promise<void> {
  const { host, port } = await resolver.resolve(service);
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const trust = { ...tls, isVerified: false };
  const backend = { scheme: 'https', host, port: String(port), path, query: '', trust } as const;
  const url = `https://${authorityOf(backend)}${path}`;
  // Without Accept, as Kubernetes asks: some servers have nothing but their own form here.
  const headers = ['Host', authorityOf(backend), ...userHeaders(AGGREGATOR)];
  const failed = (why: string): Error => new Error(`failing or missing response from ${url}: ${why}`);
  let code: number;
  try {
    const answer = await transport.send(backend, { method: 'GET', headers, signal, hurried: true });
    answer.body.destroy();
    ({ code } = answer);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    const timeout = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
    throw failed(`Get ${JSON.stringify(url)}: ${signal.aborted ? timeout : error.message}`);
  }
  if (code < 200 || code > 299) throw failed(`bad status from ${url}: ${code}`);
}
