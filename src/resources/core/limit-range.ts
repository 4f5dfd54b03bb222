import { randomUUID } from 'node:crypto';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts } from '../../object/parts.ts';
import { define } from '../define.ts';
import { roundUpToMilli } from '../validation/quantity-values.ts';
import { validateLimitRange } from './validate-limit-range.ts';

export const limitranges = define({
  group: '',
  resource: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
  shortNames: ['limits'],
  versions: [{ version: 'v1', type: 'core/v1.LimitRange' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaults,
    prepareForCreate: ({ metadata }) => {
      if ((metadata.name ?? '') === '') metadata.name = randomUUID();
    },
    validate: validateLimitRange,
  },
});

function defaults(range: ApiObject): void {
  for (const limit of parts(part(range, 'spec'), 'limits')) {
    for (const list of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']) {
      roundUpToMilli(part(limit, list));
    }
    if (limit.type === 'Container') fillDefaults(limit);
  }
}

/** Containers get the maximum as their limit, and the limit, or else the minimum, as their request. */
function fillDefaults(limit: JsonObject): void {
  const limits = { ...part(limit, 'max'), ...part(limit, 'default') };
  const requests = { ...part(limit, 'min'), ...limits, ...part(limit, 'defaultRequest') };
  if (Object.keys(limits).length > 0) limit.default = limits;
  if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
}
