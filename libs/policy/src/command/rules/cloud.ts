import type { Rule } from '../rule.ts';

/** Forges, clouds and infrastructure: reading is NETWORK, everything else changes something outside the sandbox. */
export const cloudRules: readonly Rule[] = [
  {
    names: 'gh hub',
    is: 'REMOTE_MUTATION',
    other: 'REMOTE_MUTATION',
    valued: '-R --repo --hostname',
    verbs: { READ_ONLY: 'help version completion', NETWORK: 'status browse search', MUTATING: 'alias' },
    forms: {
      pr: forgeForm(
        'view list diff status checks checkout co',
        'create merge close reopen edit comment review ready lock unlock update-branch revert',
        'merge',
      ),
      issue: forgeForm(
        'view list status',
        'create close reopen edit comment delete transfer pin unpin lock unlock develop',
        'delete',
      ),
      repo: forgeForm(
        'view list clone',
        'create delete edit fork rename archive unarchive sync deploy-key autolink set-default',
        'delete archive',
      ),
      release: forgeForm(
        'view list download verify',
        'create delete edit upload delete-asset',
        'create delete delete-asset',
      ),
      run: forgeForm('view list watch download', 'cancel rerun delete', 'delete'),
      workflow: forgeForm('view list', 'run enable disable', ''),
      gist: forgeForm('view list clone', 'create edit delete rename', 'delete'),
      'secret variable label ruleset cache project codespace cs org ssh-key gpg-key attestation': forgeForm(
        'list view check download verify item-list field-list',
        'set delete create edit clone remove',
        'delete',
      ),
      api: { is: 'NETWORK', judge: 'gh-api' },
      auth: {
        is: 'NETWORK',
        other: 'NETWORK',
        verbs: { NETWORK: 'login logout refresh setup-git switch', MUTATING: 'token' },
        forms: {
          status: { is: 'NETWORK', effects: [{ on: '-t --show-token', is: 'MUTATING', why: 'shows a credential' }] },
        },
      },
      config: { is: 'MUTATING', other: 'MUTATING', verbs: { READ_ONLY: 'get list' } },
      'extension ext': {
        is: 'NETWORK',
        other: 'NETWORK',
        verbs: { READ_ONLY: 'list', NETWORK: 'install upgrade search browse', MUTATING: 'remove exec create' },
      },
    },
    examples: [
      ['gh pr view 1', 'NETWORK'],
      ['gh pr list', 'NETWORK'],
      ['gh pr merge 12', 'REMOTE_MUTATION!'],
      ['gh -R o/r issue close 3', 'REMOTE_MUTATION'],
      ['gh run cancel 1', 'REMOTE_MUTATION'],
      ['gh repo delete o/r', 'REMOTE_MUTATION!'],
      ['gh api /repos/o/r', 'NETWORK'],
      ['gh api -X DELETE /repos/o/r', 'REMOTE_MUTATION!'],
      ["gh api graphql -f query='mutation{x}'", 'REMOTE_MUTATION'],
      ["gh api graphql -f query='query{x}'", 'NETWORK'],
      ['gh auth token', 'MUTATING'],
      ['gh --version', 'READ_ONLY'],
    ],
  },
  {
    names: 'glab tea bkt jira linear-cli',
    is: 'REMOTE_MUTATION',
    other: 'REMOTE_MUTATION',
    valued: '-R --repo',
    verbs: { READ_ONLY: 'help version completion check-update' },
    forms: {
      'mr issue issues pr pulls': forgeForm(
        'view show list diff checkout',
        'create merge close reopen update note comment approve revoke delete rebase',
        'merge delete',
      ),
      'repo release ci pipeline job variable label snippet project': forgeForm(
        'view show list clone status trace lint get',
        'create delete run retry cancel set',
        'delete',
      ),
      api: { is: 'NETWORK', judge: 'gh-api' },
      auth: { is: 'NETWORK', other: 'NETWORK' },
      config: { is: 'MUTATING', other: 'MUTATING', verbs: { READ_ONLY: 'get' } },
    },
    examples: [
      ['glab mr create', 'REMOTE_MUTATION'],
      ['glab mr list', 'NETWORK'],
    ],
  },
  {
    names: 'aws',
    is: 'READ_ONLY',
    judge: 'cloud',
    valued: '--profile --region --output --endpoint-url --query --cli-input-json --ca-bundle',
    examples: [
      ['aws s3 ls', 'NETWORK'],
      ['aws s3 sync dist s3://bucket', 'REMOTE_MUTATION'],
      ['aws s3 rm s3://b --recursive', 'REMOTE_MUTATION!'],
      ['aws s3 cp s3://b/x .', 'NETWORK'],
      ['aws sts get-caller-identity', 'NETWORK'],
      ['aws --region x ec2 describe-instances', 'NETWORK'],
      ['aws ec2 terminate-instances --instance-ids i-1', 'REMOTE_MUTATION!'],
      ['aws configure export-credentials', 'MUTATING'],
      ['aws configure list', 'READ_ONLY'],
    ],
  },
  {
    names:
      'gcloud gsutil az doctl linode-cli oci ibmcloud scw hcloud aliyun vultr-cli flyctl fly heroku railway render netlify vercel now surge firebase wrangler supabase amplify cdk sam serverless sls cf eb copilot fastly akamai cloudflare planetscale pscale turso neonctl convex sentry-cli datadog-ci snyk stripe twilio auth0 okta tfe databricks snowsql dbt coder gitpod',
    is: 'READ_ONLY',
    tool: true,
    judge: 'cloud',
    valued: '--project --profile --region --zone --subscription --format --output -o -a --app',
    examples: [
      ['gcloud auth print-access-token', 'NETWORK'],
      ['gcloud compute instances list', 'NETWORK'],
      ['gcloud compute instances delete x', 'REMOTE_MUTATION!'],
      ['vercel --prod', 'REMOTE_MUTATION'],
      ['firebase deploy', 'REMOTE_MUTATION'],
      ['az vm list', 'NETWORK'],
    ],
  },
  {
    names: 'terraform tofu terragrunt',
    is: 'REMOTE_MUTATION',
    other: 'REMOTE_MUTATION',
    style: 'single',
    judge: 'terraform',
    verbs: {
      READ_ONLY: 'validate show output version graph help metadata',
      MUTATING: 'init get test',
      REMOTE_MUTATION: 'apply import taint untaint refresh force-unlock login logout',
      DESTRUCTIVE: 'destroy',
    },
    final: 'apply',
    forms: {
      fmt: { is: 'READ_ONLY', judge: 'formatter' },
      providers: { is: 'READ_ONLY', other: 'MUTATING', verbs: { READ_ONLY: 'schema' } },
      state: {
        is: 'REMOTE_MUTATION',
        other: 'REMOTE_MUTATION',
        verbs: { NETWORK: 'list show pull', REMOTE_MUTATION: 'mv rm push replace-provider' },
        final: 'rm push',
      },
      workspace: {
        is: 'NETWORK',
        other: 'REMOTE_MUTATION',
        verbs: { NETWORK: 'list show select', REMOTE_MUTATION: 'new delete' },
        final: 'delete',
      },
      plan: { is: 'NETWORK', style: 'single', effects: [{ on: '-out', is: 'MUTATING', why: 'writes a file' }] },
    },
    examples: [
      ['terraform destroy -auto-approve', 'DESTRUCTIVE!'],
      ['terraform -chdir=infra destroy', 'DESTRUCTIVE!'],
      ['terraform apply -destroy', 'DESTRUCTIVE!'],
      ['terraform apply', 'REMOTE_MUTATION!'],
      ['terraform validate', 'READ_ONLY'],
      ['terraform plan', 'NETWORK'],
      ['terraform fmt', 'MUTATING'],
    ],
  },
  {
    names: 'pulumi',
    is: 'REMOTE_MUTATION',
    other: 'REMOTE_MUTATION',
    valued: '-C --cwd -s --stack',
    everywhere: true,
    verbs: {
      NETWORK: 'preview whoami stack history logs about',
      REMOTE_MUTATION: 'up update import refresh cancel',
      DESTRUCTIVE: 'destroy',
      MUTATING: 'new config install',
    },
    final: 'up update',
    examples: [
      ['pulumi destroy', 'DESTRUCTIVE!'],
      ['pulumi up', 'REMOTE_MUTATION!'],
    ],
  },
  {
    names:
      'ansible ansible-playbook ansible-galaxy ansible-pull salt salt-ssh puppet chef-client chef knife cap fab nomad consul packer waypoint capistrano mina',
    is: 'REMOTE_MUTATION',
    why: 'changes other machines',
    examples: [['ansible-playbook site.yml', 'REMOTE_MUTATION']],
  },
];

function forgeForm(reads: string, changes: string, final: string): NonNullable<Rule['forms']>[string] {
  return {
    is: 'REMOTE_MUTATION',
    other: 'REMOTE_MUTATION',
    valued: '-R --repo',
    verbs: { NETWORK: reads, REMOTE_MUTATION: changes },
    final,
  };
}
