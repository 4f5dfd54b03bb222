import type { Service } from '../api/types/core/v1.ts';

/**
 * Where this server reaches a service: its cluster IP, or its external name (Kubernetes: apiserver/pkg/util/proxy,
 * ResolveCluster). @throws Error in Kubernetes' words
 */
export function clusterAddressOf(service: Service, port: number): string {
  const { clusterIP = '', externalName = '', type = '' } = service.spec ?? {};
  if (type === 'ExternalName') return externalName;
  assertRoutable(type);
  if (isPlain(type) && clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
  servicePortOf(service, port);
  return clusterIP;
}

const isPlain = (type: string): boolean => type === '' || type === 'ClusterIP';

/** Only services with addresses have endpoints. @throws Error */
export function assertRoutable(type = ''): void {
  if (isPlain(type) || type === 'NodePort' || type === 'LoadBalancer') return;
  throw new Error(`unsupported service type ${JSON.stringify(type)}`);
}

/** @throws Error */
export function servicePortOf({ metadata, spec = {} }: Service, port: number): { readonly name: string } {
  const found = (spec.ports ?? []).find((one) => one.port === port);
  if (found !== undefined) return { name: found.name ?? '' };
  throw new Error(`no service port ${port} found for service ${JSON.stringify(metadata.name ?? '')}`);
}
