import { KubernetesService } from '../controllers/kubernetes-service.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import type { ServerLeases } from '../storage/server-leases.ts';
import { createReminder } from '../util/reminder.ts';
import type { Client } from '../verbs/client/client.ts';
import { findEndpointAddress, firstServiceAddress } from './advertised-address.ts';

interface KubernetesServiceParts {
  readonly client: Client;
  readonly leases: ServerLeases;
  readonly logger: Logger;
  /** A line for an error of an unavailable database; undefined for any other. */
  describeOutage(error: unknown): string | undefined;
}

/** Service default/kubernetes, as flags configure it. */
export function createKubernetesService(
  { serving, services }: Pick<ServerOptions, 'serving' | 'services'>,
  { client, leases, ...log }: KubernetesServiceParts,
): KubernetesService {
  const { advertiseAddress, bindAddress, securePort } = serving;
  const address = findEndpointAddress(advertiseAddress, bindAddress);
  if (address === undefined)
    log.logger.info(
      1,
      'the host has no address but the loopback: this server is not among the endpoints of default/kubernetes',
    );
  const isPublished = address !== undefined && services.endpointReconciler === 'lease';
  return new KubernetesService({
    ...{ client, leases },
    service: {
      clusterIp: firstServiceAddress(services.clusterIpRanges),
      targetPort: securePort,
      nodePort: services.nodePort,
    },
    self: isPublished ? { address, port: securePort } : undefined,
    onError: createErrorLog(log),
  });
}

/** While the database is unavailable a round fails every few seconds: logs one line now and then, without a stack. */
function createErrorLog({
  logger,
  describeOutage,
}: Pick<KubernetesServiceParts, 'logger' | 'describeOutage'>): (error: unknown) => void {
  const remind = createReminder((trouble) =>
    logger.warn('the endpoints of default/kubernetes wait for the database', { trouble }),
  );
  return (error) => {
    const trouble = describeOutage(error);
    if (trouble === undefined) logger.error('kubernetes service controller', error);
    else remind(trouble);
  };
}
