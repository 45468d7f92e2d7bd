import type { Rule } from '../rule.ts';

/** Programs that change files. */
export const fileRules: readonly Rule[] = [
  {
    names: 'rm grm',
    is: 'MUTATING',
    why: 'removes files',
    judge: 'rm',
    examples: [
      ['rm build/artifact.o', 'MUTATING'],
      ['rm -r build', 'MUTATING'],
      ['rm ./-rf', 'MUTATING'],
      ['rm -rf dist', 'DESTRUCTIVE!'],
      ['rm x -fr', 'DESTRUCTIVE!'],
      ['rm --rec --for x', 'DESTRUCTIVE!'],
      ['rm -r -- -f', 'MUTATING'],
      ['rm -r ~/', 'DESTRUCTIVE!'],
      ['rm -r "$HOME"', 'DESTRUCTIVE!'],
      ['rm /*', 'DESTRUCTIVE!'],
      ['cd / && rm -r *', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'rimraf del-cli trash-empty srm wipe',
    is: 'DESTRUCTIVE',
    why: 'removes trees by force',
    tool: true,
    examples: [['rimraf dist', 'DESTRUCTIVE!']],
  },
  {
    names: 'shred',
    is: 'DESTRUCTIVE',
    why: 'overwrites files so that nothing is left',
    examples: [['shred -u file', 'DESTRUCTIVE!']],
  },
  {
    names: 'mv',
    is: 'MUTATING',
    why: 'moves files',
    writes: true,
    judge: 'move',
    examples: [
      ['mv shutdown.ts halt.ts', 'MUTATING'],
      ['mv build /dev/null', 'DESTRUCTIVE!'],
    ],
  },
  {
    names:
      'cp touch mkdir rmdir ln unlink link truncate sponge install mktemp mkfifo split csplit fallocate patch rename mmv dos2unix unix2dos pax trash trash-put setfacl xattr attr setfattr ditto',
    is: 'MUTATING',
    why: 'changes files',
    writes: true,
    examples: [
      ['cp a.py b.py', 'MUTATING'],
      ['mkdir sudo', 'MUTATING'],
      ['cp img /dev/sda', 'DESTRUCTIVE!'],
      ['cp img //dev/./sda', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'tee',
    is: 'READ_ONLY',
    writes: true,
    judge: 'tee',
    examples: [
      ['tee out.txt', 'MUTATING'],
      ['tee /dev/null', 'READ_ONLY'],
      ['tee /dev/sdb', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'chmod chgrp',
    is: 'MUTATING',
    why: 'changes the rights of files',
    judge: 'chmod',
    examples: [
      ['chmod 644 a.txt', 'MUTATING'],
      ['chmod +x run.sh', 'MUTATING'],
      ['chmod u+s /bin/bash', 'PRIVILEGED'],
      ['chmod 4755 x', 'PRIVILEGED'],
      ['chmod -R 777 /', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'dd',
    is: 'MUTATING',
    why: 'copies raw data',
    judge: 'dd',
    examples: [
      ['dd if=a of=./b', 'MUTATING'],
      ['dd if=/dev/zero of=/dev/sda bs=1M', 'DESTRUCTIVE!'],
      ['dd if=a of=/dev/null', 'MUTATING'],
    ],
  },
  {
    names: 'tar gtar bsdtar',
    is: 'READ_ONLY',
    valued:
      '-C -f -T -X -I -b -F -g -K -N -V --file --directory --files-from --exclude --exclude-from --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command --transform --one-file-system-root',
    effects: [
      {
        on: '-I --use-compress-program',
        is: 'MUTATING',
        why: 'runs a compressor that is named',
        value: 'shell',
        unless: /^(gzip|bzip2|xz|zstd|lz4|pigz|pbzip2|lzma|lzip|zstdmt|brotli)( -[\w=-]+)*$/,
      },
      {
        on: '--to-command --info-script --new-volume-script -F --rsh-command --rmt-command',
        is: 'MUTATING',
        why: 'runs a program that is named',
        value: 'shell',
      },
      {
        on: '--checkpoint-action',
        is: 'MUTATING',
        why: 'runs an action that is named',
        value: 'shell',
        unless: /^(dot|echo|ttyout|bell|sleep|totals)/,
      },
      { on: '--remove-files', is: 'MUTATING', why: 'removes what it packs' },
    ],
    judge: 'tar',
    examples: [
      ['tar tzf a.tgz', 'READ_ONLY'],
      ['tar -tf a.tar', 'READ_ONLY'],
      ['tar xzf a.tgz', 'MUTATING'],
      ['tar -czf out.tgz src', 'MUTATING'],
      ["tar --checkpoint=1 --checkpoint-action=exec='sh -c id' -cf /dev/null .", 'MUTATING'],
      ["tar -I 'rm -rf x' -tf a", 'DESTRUCTIVE!'],
      ["tar xf a --to-command='sudo tee'", 'PRIVILEGED'],
      ['tar cf host:/backup.tar .', 'NETWORK'],
    ],
  },
  {
    names: 'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma brotli pigz zip 7z 7za 7zr unrar rar ar cpio shar',
    is: 'MUTATING',
    why: 'packs or unpacks files',
    valued: '-O -d -x -P',
    examples: [['gzip notes.txt', 'MUTATING']],
    effects: [{ on: '-TT --unzip-command', is: 'MUTATING', why: 'runs a program that is named', value: 'shell' }],
  },
  {
    names: 'unzip zipinfo',
    is: 'MUTATING',
    why: 'unpacks files',
    examples: [['unzip a.zip', 'MUTATING']],
  },
  {
    names: 'ex vi vim nvim view vimdiff ed nano pico emacs emacsclient joe micro helix hx code subl',
    is: 'MUTATING',
    why: 'is an editor: it writes files and runs commands',
    examples: [["ex -sc 'x' f", 'MUTATING']],
  },
  {
    names:
      'mkfs mke2fs mkswap mkntfs fdisk sfdisk gdisk sgdisk cfdisk parted wipefs blkdiscard badblocks debugfs tune2fs resize2fs fsck e2fsck xfs_repair hdparm nvme cryptsetup dmsetup lvremove vgremove pvremove zpool zfs btrfs mdadm partprobe diskutil format',
    is: 'DESTRUCTIVE',
    why: 'changes file systems and disks',
    examples: [
      ['mkfs -t xfs /dev/sdb', 'DESTRUCTIVE!'],
      ['mkfs.ext4 /dev/sda1', 'DESTRUCTIVE!'],
      ['fdisk /dev/sda', 'DESTRUCTIVE!'],
    ],
  },
];
