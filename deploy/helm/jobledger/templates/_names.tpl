{{- define "jobledger.name" -}}
{{- if contains "jobledger" .Release.Name }}{{ .Release.Name | trunc 32 | trimSuffix "-" }}{{ else }}{{ printf "%s-jobledger" .Release.Name | trunc 32 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "jobledger.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "jobledger.name" .) "default") }}
{{- end }}

{{- define "jobledger.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* What never changes of a process: selectors are made of it. Takes root and name. */}}
{{- define "jobledger.selector" -}}
app.kubernetes.io/name: jobledger
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "jobledger.labels" -}}
{{ include "jobledger.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The processes that run, by name, each as {known, own}: what files/services.yaml and values say of it, as JSON. */}}
{{- define "jobledger.running" -}}
{{- $running := dict }}
{{- $clickhouse := .Values.secrets.clickhouse.name }}
{{- range $name, $known := .Files.Get "files/services.yaml" | fromYaml }}
{{- $own := index $.Values.services $name }}
{{- $there := and (or $clickhouse (ne (default "" $known.clickhouse) "needed")) (or $.Values.secrets.signingKey.name (not (has "signingKey" (default list $known.knows)))) }}
{{- if and $own.enabled $there }}
{{- $_ := set $running $name (dict "known" $known "own" $own) }}
{{- end }}
{{- end }}
{{- toJson $running }}
{{- end }}
