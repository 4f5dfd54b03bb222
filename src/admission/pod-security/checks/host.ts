import type { Check, CheckedContainer, SharedContext } from '../check.ts';
import { named, namesOf, plural, settersOf, sorted } from '../wording.ts';

/** What pods share with the node they are on. */

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
        // In the order of their texts: 80 comes after 443.
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
