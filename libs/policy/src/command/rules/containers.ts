import type { Rule } from '../rule.ts';

/** Container engines and clusters: whoever may start a container is root on the host. */
export const containerRules: readonly Rule[] = [
  {
    names: 'docker podman nerdctl finch',
    is: 'PRIVILEGED',
    other: 'PRIVILEGED',
    valued:
      '-H -c -l --host --context --config --log-level --tlscacert --tlscert --tlskey --connection --url --namespace -n --root --runroot',
    effects: [
      { on: '-H --host -c --context --url --connection --remote', is: 'NETWORK', why: 'speaks to another engine' },
    ],
    verbs: {
      READ_ONLY: 'ps images logs inspect version info top port history diff stats events help',
      NETWORK: 'pull search login logout',
      REMOTE_MUTATION: 'push',
      MUTATING: 'rm rmi stop kill restart pause unpause tag save rename wait',
      PRIVILEGED:
        'start attach cp commit update export import load swarm service stack node secret plugin trust sandbox debug init model scout unshare play kube generate machine',
    },
    forms: {
      build: {
        is: 'MUTATING',
        why: 'runs a recipe with a network',
        valued: '-t -f --tag --file --build-arg --target --platform --secret --ssh -o --output',
        effects: buildEffects(),
      },
      buildx: {
        is: 'PRIVILEGED',
        other: 'PRIVILEGED',
        verbs: { READ_ONLY: 'ls inspect du version' },
        forms: {
          'build b bake': {
            is: 'MUTATING',
            why: 'runs a recipe with a network',
            valued: '-t -f --tag --file --build-arg --target --platform --secret --ssh -o --output',
            effects: buildEffects(),
          },
        },
      },
      'run exec create': { is: 'PRIVILEGED', judge: 'container-command' },
      compose: composeForm(),
      system: {
        is: 'DESTRUCTIVE',
        other: 'PRIVILEGED',
        verbs: { READ_ONLY: 'df info events', DESTRUCTIVE: 'prune reset', PRIVILEGED: 'dial-stdio service' },
      },
      volume: {
        is: 'DESTRUCTIVE',
        other: 'PRIVILEGED',
        verbs: { READ_ONLY: 'ls list inspect', DESTRUCTIVE: 'rm remove prune', PRIVILEGED: 'create update' },
      },
      container: {
        is: 'PRIVILEGED',
        other: 'PRIVILEGED',
        verbs: {
          READ_ONLY: 'ls list ps inspect logs top port diff stats',
          MUTATING: 'rm stop kill restart pause unpause rename wait',
          DESTRUCTIVE: 'prune',
        },
        forms: { 'run exec create': { is: 'PRIVILEGED', judge: 'container-command' } },
      },
      image: {
        is: 'PRIVILEGED',
        other: 'PRIVILEGED',
        verbs: {
          READ_ONLY: 'ls list inspect history',
          MUTATING: 'rm tag save',
          NETWORK: 'pull',
          REMOTE_MUTATION: 'push',
          DESTRUCTIVE: 'prune',
        },
      },
      network: { is: 'PRIVILEGED', other: 'PRIVILEGED', verbs: { READ_ONLY: 'ls list inspect', DESTRUCTIVE: 'prune' } },
      builder: { is: 'PRIVILEGED', other: 'PRIVILEGED', verbs: { DESTRUCTIVE: 'prune' } },
      context: { is: 'PRIVILEGED', other: 'PRIVILEGED', verbs: { READ_ONLY: 'ls list inspect show' } },
      manifest: { is: 'NETWORK', other: 'PRIVILEGED', verbs: { NETWORK: 'inspect', REMOTE_MUTATION: 'push' } },
    },
    examples: [
      ['docker ps', 'READ_ONLY'],
      ['docker logs web', 'READ_ONLY'],
      ['docker --version', 'READ_ONLY'],
      ['docker run -v /:/host alpine', 'PRIVILEGED'],
      ['docker exec -it c rm -rf /', 'PRIVILEGED!'],
      ['docker -H tcp://h:2375 run alpine', 'PRIVILEGED'],
      ['docker compose up -d', 'PRIVILEGED'],
      ['docker compose ps', 'READ_ONLY'],
      ['docker compose -f x.yml run app sh', 'PRIVILEGED'],
      ['docker push acme/app:1', 'REMOTE_MUTATION'],
      ['docker build -t x .', 'MUTATING'],
      ['docker buildx build --push .', 'REMOTE_MUTATION'],
      ['docker system df', 'READ_ONLY'],
      ['docker system prune -af', 'DESTRUCTIVE!'],
      ['docker volume rm data', 'DESTRUCTIVE!'],
      ['docker pull alpine', 'NETWORK'],
      ['docker --context prod ps', 'NETWORK'],
      ['podman run --privileged x', 'PRIVILEGED'],
    ],
  },
  {
    names: 'docker-compose podman-compose',
    ...composeForm(),
    examples: [
      ['docker-compose up', 'PRIVILEGED'],
      ['docker-compose config', 'READ_ONLY'],
      ['docker-compose down -v', 'PRIVILEGED!'],
    ],
  },
  {
    names:
      'ctr crictl runc crun lxc lxc-start lxc-attach lxd incus buildah containerd dockerd kata-runtime multipass vagrant virsh qemu-system-x86_64 VBoxManage limactl colima minikube kind k3d k3s kubeadm',
    is: 'PRIVILEGED',
    why: 'controls containers or machines',
    examples: [
      ['lxc exec c -- sh', 'PRIVILEGED'],
      ['minikube start', 'PRIVILEGED'],
    ],
  },
  {
    names: 'skopeo crane regctl oras',
    is: 'NETWORK',
    other: 'REMOTE_MUTATION',
    verbs: {
      NETWORK: 'inspect list-tags ls manifest digest config pull export',
      REMOTE_MUTATION: 'copy push delete sync append mutate tag',
    },
    examples: [['crane push a b', 'REMOTE_MUTATION']],
  },
  {
    names: 'kubectl oc k',
    is: 'PRIVILEGED',
    other: 'PRIVILEGED',
    everywhere: true,
    valued:
      '-n --namespace --context --cluster --kubeconfig -s --server --user --token --as -l --selector -f --filename -o --output -c --container',
    effects: [
      { on: '--context --kubeconfig -s --server --token', is: 'NETWORK', why: 'speaks to a cluster that is named' },
    ],
    verbs: {
      READ_ONLY: 'describe logs explain version api-resources api-versions cluster-info top events help completion',
      NETWORK: 'diff wait auth',
      DESTRUCTIVE: 'delete drain',
      PRIVILEGED:
        'apply create edit patch replace scale set label annotate rollout expose run exec attach cp port-forward proxy debug cordon uncordon taint autoscale certificate kustomize plugin',
    },
    forms: {
      get: { is: 'READ_ONLY', judge: 'kubectl-get' },
      config: {
        is: 'PRIVILEGED',
        other: 'PRIVILEGED',
        verbs: { READ_ONLY: 'current-context get-contexts get-clusters get-users' },
        forms: { view: { is: 'READ_ONLY', effects: [{ on: '--raw', is: 'MUTATING', why: 'shows credentials' }] } },
      },
    },
    examples: [
      ['kubectl get pods', 'READ_ONLY'],
      ['kubectl get secret -o yaml', 'MUTATING'],
      ['kubectl -n prod delete deploy app', 'DESTRUCTIVE!'],
      ['kubectl apply -f x.yml', 'PRIVILEGED'],
      ['kubectl config view --raw', 'MUTATING'],
    ],
  },
  {
    names: 'helm helmfile kustomize argocd flux istioctl linkerd velero k9s stern kubectx kubens eksctl',
    is: 'REMOTE_MUTATION',
    other: 'REMOTE_MUTATION',
    bare: 'READ_ONLY',
    everywhere: true,
    valued: '-n --namespace -f --values --kube-context --kubeconfig --set',
    effects: [
      {
        on: '--post-renderer --enable-exec --enable-helm --enable-alpha-plugins',
        is: 'MUTATING',
        why: 'runs a program that is named',
      },
    ],
    verbs: {
      READ_ONLY: 'template lint version help env build',
      NETWORK: 'list ls get status history search show pull repo diff logs',
      BUILD: 'package',
      DESTRUCTIVE: 'uninstall delete destroy del un',
      REMOTE_MUTATION: 'install upgrade rollback push apply sync create',
    },
    examples: [
      ['helm template x', 'READ_ONLY'],
      ['helm upgrade x y', 'REMOTE_MUTATION'],
      ['helm uninstall x', 'DESTRUCTIVE!'],
    ],
  },
];

function buildEffects(): NonNullable<Rule['effects']> {
  return [
    { on: '--push', is: 'REMOTE_MUTATION', why: 'pushes an image' },
    { on: '-o --output', is: 'REMOTE_MUTATION', why: 'pushes an image', when: /type=registry|push=true/ },
    { on: '-o --output', is: 'MUTATING', why: 'writes files', unless: /type=(registry|docker|image)/ },
    {
      on: '--allow --privileged --cap-add --security-opt --device -v --volume',
      is: 'PRIVILEGED',
      why: 'builds with rights on the host',
    },
    { on: '--secret --ssh', is: 'MUTATING', why: 'gives secrets to the build' },
  ];
}

function composeForm(): Omit<Rule, 'names' | 'examples'> {
  return {
    is: 'PRIVILEGED',
    other: 'PRIVILEGED',
    valued: '-f -p --file --project-name --profile --env-file --project-directory --parallel --ansi',
    verbs: {
      READ_ONLY: 'ps ls logs top images port version config events stats volumes',
      REMOTE_MUTATION: 'push publish',
      PRIVILEGED: 'up run exec create start attach cp scale watch build pull stop kill rm restart pause unpause wait',
    },
    forms: {
      down: {
        is: 'PRIVILEGED',
        effects: [{ on: '-v --volumes --rmi', is: 'DESTRUCTIVE', why: 'removes volumes or images' }],
      },
    },
  };
}
