import { defineFlags } from '../flag.ts';

/** Flags under the heading API. */
export const apiFlags = defineFlags('API', [
  {
    name: 'runtime-config',
    type: 'strings',
    default: [],
    meaning:
      'API versions turned on or off: v1, group/version, api/all, api/ga, api/beta, api/alpha, each =true or =false',
  },
  {
    name: 'emulated-version',
    type: 'strings',
    default: [],
    meaning: 'version of each component whose capabilities are emulated, as component=major.minor',
  },
  {
    name: 'feature-gates',
    type: 'strings',
    default: [],
    meaning: 'features turned on or off, as [component:]Name=true or =false',
  },
]);
