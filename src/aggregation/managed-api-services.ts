import { canonicalGroup } from '../api/dialect.ts';
import type { ResourceOf } from '../api/names.ts';
import type { APIService, APIServiceCondition } from '../api/types/apiregistration/v1.ts';
import { API_SERVICE_GROUP } from '../registry/group-priorities.ts';
import type { BackendTls } from '../request/backend.ts';

/** The label of API services that servers maintain. Others belong to their owners and stay. */
export const MANAGED = 'kube-aggregator.kubernetes.io/automanaged';
/** Created and corrected when a server starts: built-in group versions. */
export const ON_START = 'onstart';

export const API_SERVICES: ResourceOf<APIService> = {
  group: API_SERVICE_GROUP,
  resource: 'apiservices',
};

/** The service in front of another server. */
export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** A group version of another server. Replaced when its object changes. */
export interface RemoteVersion {
  /** The name of the API service. */
  readonly name: string;
  /** Canonical. */
  readonly group: string;
  readonly version: string;
  readonly service: ServiceAddress;
  readonly tls: BackendTls;
  readonly isAvailable: boolean;
  /** Whether its status has an availability. */
  readonly isChecked: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Identifies the server: its address and how to call it. */
  readonly server: string;
}

const DEFAULT_PORT = 443;

/** Undefined: this server serves it itself. */
export function toRemoteVersion(api: APIService): RemoteVersion | undefined {
  const { group = '', version = '', service, ...spec } = api.spec ?? {};
  if (service === undefined) return undefined;
  const { namespace = '', name = '', port = DEFAULT_PORT } = service;
  const ca = spec.caBundle === undefined || spec.caBundle === '' ? undefined : decode(spec.caBundle);
  const tls = {
    ca,
    serverName: `${name}.${namespace}.svc`,
    isVerified: spec.insecureSkipTLSVerify !== true,
  };
  return {
    name: api.metadata.name ?? '',
    group: canonicalGroup(group).group,
    version,
    service: { namespace, name, port },
    tls,
    isAvailable: isAvailable(api),
    isChecked: availabilityOf(api) !== undefined,
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
    server: JSON.stringify([namespace, name, port, ca, tls.isVerified]),
  };
}

const decode = (base64: string): string => Buffer.from(base64, 'base64').toString();

export const isAvailable = (api: APIService): boolean => availabilityOf(api)?.status === 'True';

const availabilityOf = ({ status }: APIService): APIServiceCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Available');

export const keyOf = (group: string, version: string): string => `${group}/${version}`;
