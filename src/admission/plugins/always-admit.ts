import type { AdmissionPlugin } from '../admission.ts';

/** For command lines that name it: it lets everything pass (Kubernetes: plugin/pkg/admission/admit). */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: [] };
