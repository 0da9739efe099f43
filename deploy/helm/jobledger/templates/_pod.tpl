{{/* The container of a process, without probes. Takes root, name, known, own. */}}
{{- define "jobledger.container" -}}
name: {{ .name }}
image: {{ include "jobledger.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- with concat .root.Values.extraEnvFrom (default list .own.extraEnvFrom) }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .own.resources | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- with .root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Of a pod everything that is not of its container. */}}
{{- define "jobledger.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .own.priorityClassName | default .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .own.nodeSelector | default .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.tolerations | default .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.affinity | default .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - {name: tmp, emptyDir: {sizeLimit: 1Gi}}
  {{- with .root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Pods of a process away from each other, by the labels of its selector. */}}
{{- define "jobledger.spread" -}}
{{- if .root.Values.topologySpread.enabled }}
topologySpreadConstraints:
  {{- range .root.Values.topologySpread.keys }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $.root.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "jobledger.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* How Kubernetes asks a process. /health says that it is not hung: only that restarts it. /ready says that it gets on;
     of the API, that this instance reaches Postgres: what all instances wait for at once, such as a decider that starts,
     takes none out of routing, or reads would end with it. An API answers only once broker and topics are there. */}}
{{- define "jobledger.probes" -}}
startupProbe:
  httpGet: {path: /health, port: http}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /health, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: {{ eq .name "api" | ternary "/ready?part=postgres" "/ready" | quote }}, port: http}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}
