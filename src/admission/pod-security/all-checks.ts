import type { Check } from './check.ts';
import { appArmorProfile } from './checks/app-armor.ts';
import { capabilitiesBaseline, capabilitiesRestricted } from './checks/capabilities.ts';
import { hostNamespaces, hostPathVolumes, hostPorts, windowsHostProcess } from './checks/host.ts';
import { allowPrivilegeEscalation, privileged } from './checks/privileges.ts';
import { procMount } from './checks/proc-mount.ts';
import { restrictedVolumes } from './checks/restricted-volumes.ts';
import { runAsNonRoot, runAsUser } from './checks/run-as.ts';
import { seLinuxOptions } from './checks/se-linux.ts';
import { seccompBaseline, seccompRestricted } from './checks/seccomp.ts';
import { sysctls } from './checks/sysctls.ts';

/** In the order in which violations are told: each level by its ids (Kubernetes: pod-security-admission, policy/). */
export const ALL_CHECKS: readonly Check[] = [
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  privileged,
  procMount,
  seLinuxOptions,
  seccompBaseline,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
];
