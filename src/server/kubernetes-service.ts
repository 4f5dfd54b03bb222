import { ControllerIdentity } from '../controllers/identity.ts';
import { KubernetesService } from '../controllers/kubernetes-service.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import type { Registry } from '../registry/registry.ts';
import { describeTrouble, isPassing } from '../storage/postgres/trouble.ts';
import type { ServerLeases } from '../storage/server-leases.ts';
import type { Store } from '../storage/store.ts';
import { createReminder } from '../util/reminder.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { findEndpointAddress, firstServiceAddress } from './advertised-address.ts';

export interface KubernetesServiceParts {
  readonly options: ServerOptions;
  readonly store: Store;
  readonly registry: Registry;
  readonly writer: ObjectWriter;
  readonly leases: ServerLeases;
  readonly logger: Logger;
}

/** default/kubernetes, by --advertise-address, --endpoint-reconciler-type and their like. */
export function createKubernetesService(parts: KubernetesServiceParts): KubernetesService {
  const { options, logger, ...rest } = parts;
  const { serving, bindAddress, securePort } = options;
  const address = findEndpointAddress(serving.advertiseAddress, bindAddress);
  if (address === undefined)
    logger.info(
      1,
      'the host has no address but the loopback: this server is not among the endpoints of default/kubernetes',
    );
  const isPublished = address !== undefined && serving.endpointReconciler === 'lease';
  return new KubernetesService({
    ...rest,
    identity: new ControllerIdentity('kubernetes-service-controller'),
    service: {
      clusterIp: firstServiceAddress(serving.serviceRanges),
      targetPort: securePort,
      nodePort: serving.serviceNodePort,
    },
    self: isPublished ? { address, port: securePort } : undefined,
    onError: createErrorLog(logger),
  });
}

/** Every few seconds a round fails while the database is away: that is one line now and then, and no trace. */
function createErrorLog(logger: Logger): (error: unknown) => void {
  const remind = createReminder((trouble) =>
    logger.warn('the endpoints of default/kubernetes wait for the database', { trouble }),
  );
  return (error) => {
    if (isPassing(error)) remind(describeTrouble(error));
    else logger.error('kubernetes service controller', error);
  };
}
