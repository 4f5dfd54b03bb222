import { defineFlags } from '../flag.ts';

/** Flags under the heading Admission. */
export const admissionFlags = defineFlags('Admission', [
  {
    name: 'admission-control-config-file',
    type: 'string',
    default: '',
    meaning: 'admission control configuration file',
  },
  {
    name: 'enable-admission-plugins',
    type: 'strings',
    default: [],
    meaning: 'plugins enabled in addition to the defaults; order does not matter',
  },
  {
    name: 'disable-admission-plugins',
    type: 'strings',
    default: [],
    meaning: 'plugins disabled although default-enabled; order does not matter',
  },
]);
