import type { Volume } from '../../../api/types/core/v1.ts';
import {
  type Check,
  type CheckedContainer,
  exceptOwnUsers,
  type FindViolation,
  named,
  namesOf,
  plural,
  quoted,
  type SharedContext,
  settersOf,
  sorted,
} from '../pod-check.ts';

/** Checks of what pods share with their node. */

export const hostNamespaces: Check = {
  id: 'hostNamespaces',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ spec }) => {
        const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter(
          (field) => spec[field] === true,
        );
        if (shared.length === 0) return undefined;
        const detail = shared.map((field) => `${field}=true`).join(', ');
        return { reason: 'host namespaces', detail };
      },
    },
  ],
};

export const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ spec }) => {
        const bad = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined);
        if (bad.length === 0) return undefined;
        const names = bad.map(({ name = '' }) => name);
        return { reason: 'hostPath volumes', detail: named('volume', names) };
      },
    },
  ],
};

const hostPortsOf = ({ spec }: CheckedContainer): string[] =>
  (spec.ports ?? [])
    .map(({ hostPort = 0 }) => hostPort)
    .filter((port) => port !== 0)
    .map(String);

export const hostPorts: Check = {
  id: 'hostPorts',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ containers }) => {
        const bad = containers.filter((container) => hostPortsOf(container).length > 0);
        if (bad.length === 0) return undefined;
        // Sorted as texts: 80 comes after 443.
        const ports = sorted(bad.flatMap(hostPortsOf));
        const use = bad.length === 1 ? 'uses' : 'use';
        const what = `${plural('hostPort', ports.length)} ${ports.join(', ')}`;
        return { reason: 'hostPort', detail: `${named('container', namesOf(bad))} ${use} ${what}` };
      },
    },
  ],
};

const isHostProcess = ({ windowsOptions }: SharedContext): boolean => windowsOptions?.hostProcess === true;

export const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ context, containers }) => {
        const bad = containers.filter((container) => isHostProcess(container.context));
        const setters = settersOf(isHostProcess(context), bad);
        if (setters === '') return undefined;
        const detail = `${setters} must not set securityContext.windowsOptions.hostProcess=true`;
        return { reason: 'hostProcess', detail };
      },
    },
  ],
};

const mountOf = ({ context }: CheckedContainer): string => context.procMount ?? 'Default';

const findMount: FindViolation = ({ containers, hasOwnUsers }) => {
  const bad = hasOwnUsers ? [] : containers.filter((container) => mountOf(container) !== 'Default');
  if (bad.length === 0) return undefined;
  const mounts = quoted(sorted(bad.map(mountOf)));
  const who = named('container', namesOf(bad));
  return { reason: 'procMount', detail: `${who} must not set securityContext.procMount to ${mounts}` };
};

/** Runtimes hide parts of /proc from containers; pods must not undo that. */
export const procMount: Check = {
  id: 'procMount',
  level: 'baseline',
  versions: [
    { since: 0, find: findMount },
    { since: 35, find: exceptOwnUsers(findMount) },
  ],
};

export const procMountRestricted: Check = {
  id: 'procMount_restricted',
  level: 'restricted',
  versions: [{ since: 35, find: findMount, overrides: [procMount.id] }],
};

/** Of all that a node asks on behalf of a container. */
function hostsOf({ spec }: CheckedContainer): string[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = spec;
  return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
    .flatMap((asked) => [asked?.httpGet?.host ?? '', asked?.tcpSocket?.host ?? ''])
    .filter((host) => host !== '');
}

/** Nodes ask other hosts than the pod with rights of their own. */
export const hostProbes: Check = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  versions: [
    {
      since: 34,
      find: ({ containers }) => {
        const bad = containers.filter((container) => hostsOf(container).length > 0);
        if (bad.length === 0) return undefined;
        const who = named('container', sorted(namesOf(bad)));
        const reason = 'probe or lifecycle host';
        const detail = `${who} ${bad.length === 1 ? 'uses' : 'use'} ${named(reason, sorted(bad.flatMap(hostsOf)))}`;
        return { reason, detail };
      },
    },
  ],
};

/** Kernel parameters that affect only the pod itself. */
const SAFE_1_0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SAFE_1_27 = [...SAFE_1_0, 'net.ipv4.ip_local_reserved_ports'];
const SAFE_1_29 = [
  ...SAFE_1_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const SAFE_1_32 = [...SAFE_1_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const findBeyond =
  (safe: readonly string[]): FindViolation =>
  ({ context }) => {
    const names = (context.sysctls ?? []).map(({ name = '' }) => name);
    const unsafe = names.filter((name) => !safe.includes(name));
    return unsafe.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: unsafe.join(', ') };
  };

export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  versions: [
    { since: 0, find: findBeyond(SAFE_1_0) },
    { since: 27, find: findBeyond(SAFE_1_27) },
    { since: 29, find: findBeyond(SAFE_1_29) },
    { since: 32, find: findBeyond(SAFE_1_32) },
  ],
};

type VolumeType = Exclude<keyof Volume, 'name'>;

const ALLOWED: readonly VolumeType[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/** Volume types that reports name; a volume is named by its first one. */
const RESTRICTED: readonly VolumeType[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

const typeAmong = (types: readonly VolumeType[], volume: Volume): VolumeType | undefined =>
  types.find((type) => volume[type] !== undefined);

const find: FindViolation = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => typeAmong(ALLOWED, volume) === undefined);
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => typeAmong(RESTRICTED, volume) ?? 'unknown'));
  const volumes = named(
    'volume',
    bad.map(({ name = '' }) => name),
  );
  const use = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'restricted volume types',
    detail: `${volumes} ${use} ${plural('restricted volume type', types.length)} ${quoted(types)}`,
  };
};

/** Only volumes that the cluster makes itself, or that a user with more rights has made. */
export const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  versions: [{ since: 0, find, overrides: [hostPathVolumes.id] }],
};
