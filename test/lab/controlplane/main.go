// Command controlplane is every program of a Kubernetes control plane in one binary.
//
// It looks at the name it was started under (or, when that is not one of the programs, at its first argument) and
// runs the published command of that name. One binary links the shared packages once: 142 MiB instead of 600.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	// Client-go metrics and JSON logs, as the published commands register them.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

var programs = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
}

func main() {
	name := filepath.Base(os.Args[0])
	if _, known := programs[name]; !known && name != "etcd" && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = filepath.Base(os.Args[0])
	}
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	newCommand, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "controlplane: no program named %q\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(newCommand()))
}
