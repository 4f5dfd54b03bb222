import { invalid } from '../../api/status.ts';
import type { PodLogOptions } from '../../api/types/core/v1.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';
import type { ConnectSubresource } from '../../registry/definition.ts';
import { mustBeNonNegative } from '../rules/numbers.ts';
import { agentOf, chooseContainer, PODS } from './agent.ts';

/** What a container has written, from the agent of its node. */
export const podLog: ConnectSubresource<PodLogOptions> = {
  access: 'connect',
  name: 'log',
  served: { group: '', version: 'v1', kind: 'Pod' },
  type: 'core/v1.Pod',
  verbs: ['get'],
  methods: ['GET'],
  options: 'core/v1.PodLogOptions',
  manner: 'log',
  locate: async (call) => {
    const { options, namespace, name } = call;
    const errors = problemsOf((at) => validateLogOptions(at, options));
    if (errors.length > 0) throw invalid({ kind: 'PodLogOptions', group: '' }, name, errors);
    const pod = await call.get(PODS, namespace, name);
    const container = chooseContainer(pod, options.container ?? '');
    const { nodeName = '' } = pod.spec ?? {};
    if (nodeName === '') return undefined;
    return {
      ...(await agentOf(call, nodeName)),
      path: `/containerLogs/${namespace}/${name}/${container}`,
      query: logQuery(options),
      trust: options.insecureSkipTLSVerifyBackend === true ? 'agent-unverified' : 'agent',
    };
  },
};

export function validateLogOptions(at: FieldPath, options: PodLogOptions): void {
  const { limitBytes, sinceSeconds, sinceTime } = options;
  mustBeNonNegative(at.field('tailLines'), options.tailLines);
  mustBePositive(at.field('limitBytes'), limitBytes);
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    at.forbidden('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else mustBePositive(at.field('sinceSeconds'), sinceSeconds);
}

function mustBePositive(at: FieldPath, value: number | bigint | undefined): void {
  if (value !== undefined && value < 1) at.invalid(value, 'must be greater than 0');
}

const FLAGS = ['follow', 'previous', 'timestamps'] as const;
const VALUES = ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'] as const;

function logQuery(options: PodLogOptions): string {
  const query = new URLSearchParams();
  for (const name of FLAGS) if (options[name] === true) query.set(name, 'true');
  for (const name of VALUES) if (options[name] !== undefined) query.set(name, String(options[name]));
  query.sort();
  return query.toString();
}
