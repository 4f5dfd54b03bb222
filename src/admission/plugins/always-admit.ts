import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';

/** For command lines that name it: it lets everything pass (Kubernetes: plugin/pkg/admission/admit). */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: [] };

export const alwaysAdmitPlugin = describePlugin({
  name: 'AlwaysAdmit',
  isDefault: false,
  create: () => alwaysAdmit,
});
