import type { JsonObject } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import type { ConnectSubresource } from '../../registry/definition.ts';
import { agentOf } from './agent.ts';
import { chooseContainer } from './container.ts';

/** What a container has written, from the agent of its node. */
export const podLog: ConnectSubresource = {
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
    const errors = validateLogOptions(options);
    if (errors.length > 0) throw invalid({ kind: 'PodLogOptions', group: '' }, name, errors);
    const pod = await call.get({ group: '', resource: 'pods' }, namespace, name);
    const container = chooseContainer(pod, text(options.container));
    const node = text(part(pod, 'spec').nodeName);
    if (node === '') return undefined;
    return {
      ...(await agentOf(call, node)),
      path: `/containerLogs/${namespace}/${name}/${container}`,
      query: logQuery(options),
      trust: options.insecureSkipTLSVerifyBackend === true ? 'agent-unverified' : 'agent',
    };
  },
};

export function validateLogOptions(options: JsonObject): FieldError[] {
  const { tailLines, limitBytes, sinceSeconds, sinceTime } = options;
  const errors: FieldError[] = [];
  if (typeof tailLines === 'number' && tailLines < 0) {
    errors.push(invalidValue('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (typeof limitBytes === 'number' && limitBytes < 1) {
    errors.push(invalidValue('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (typeof sinceSeconds === 'number' && sinceSeconds < 1) {
    errors.push(invalidValue('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  return errors;
}

const FLAGS = ['follow', 'previous', 'timestamps'] as const;
const VALUES = ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'] as const;

function logQuery(options: JsonObject): string {
  const query = new URLSearchParams();
  for (const name of FLAGS) if (options[name] === true) query.set(name, 'true');
  for (const name of VALUES) if (options[name] !== undefined) query.set(name, String(options[name]));
  query.sort();
  return query.toString();
}
