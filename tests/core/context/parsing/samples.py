"""One small text of each language, and the units it is to have: kind, qualified name, lines."""

from __future__ import annotations

PYTHON = '''"""Module."""

import os
from httpx._client import Client as C


LIMIT = 3


# Says hello.
@cache
@app.route("/")
def hello(name: str,
          loud: bool = False) -> str:
    """Greets.

    At length.
    """
    def inner(x):
        return x
    return Client(name).greet(inner)


class Small(Base):
    x = 1

    def a(self): ...


async def last(): return 1
'''
PYTHON_UNITS = [
    ("block", "", 1, 7),
    ("function", "hello", 10, 21),
    ("class", "Small", 24, 27),
    ("function", "last", 30, 30),
]

JAVASCRIPT = """const fs = require("fs")
import React from 'react'

/** Adds. */
export const add = (a, b) => {
  return a + b
}

export default class Box extends React.Component {
  render() { return <Inner x={add(1, 2)} /> }
}

module.exports.go = function () { fs.readFile() }

Foo.prototype.bar = async function* () {}

function plain() {}

const Named = class { m() {} }

export const routes = {
  a: 1,
  b: 2,
  c: () => 3,
}
"""
JAVASCRIPT_UNITS = [
    ("block", "", 1, 2),
    ("function", "add", 4, 7),
    ("class", "Box", 9, 11),
    ("function", "go", 13, 13),
    ("method", "Foo.bar", 15, 15),
    ("function", "plain", 17, 17),
    ("class", "Named", 19, 19),
    ("constant", "routes", 21, 25),
]

TYPESCRIPT = """import type { A } from "./a"

export function over(a: string): void
export function over(a: number): void
export function over(a: any) {}

export interface Shape { x: number }

export type One = string

type Two = {
  a: A
}

@Injectable()
export abstract class Service<T> {
  @Get() find(): T { return helper<T>() }
}

enum Color { Red }

namespace Outer.Inner {
  export const f = function () {}
}
"""
TYPESCRIPT_UNITS = [
    ("block", "", 1, 1),
    ("function", "over", 3, 5),
    ("interface", "Shape", 7, 7),
    ("type", "One", 9, 9),
    ("type", "Two", 11, 13),
    ("class", "Service", 15, 18),
    ("enum", "Color", 20, 20),
    ("module", "Outer.Inner", 22, 22),
    ("function", "Outer.Inner.f", 23, 24),
]

GO = """package main

import (
	"fmt"
	str "strings"
)

// Client does.
type Client struct {
	name string
}

type Doer interface {
	Do() error
}

// Do does.
func (c *Client[T]) Do(a int) error {
	fmt.Println(str.ToUpper(c.name))
	return nil
}

func main() { run() }
"""
GO_UNITS = [
    ("block", "", 1, 6),
    ("struct", "Client", 8, 11),
    ("interface", "Doer", 13, 15),
    ("method", "Client.Do", 17, 21),
    ("function", "main", 23, 23),
]

RUST = """use std::io::{Read, Write};

/// A point.
#[derive(Debug)]
pub struct Point { x: i32 }

pub trait Draw { fn draw(&self); }

impl<T> Draw for Point<T> {
    fn draw(&self) { helper(self.x); }
}

mod inner {
    pub fn f() { println!("x"); }

    enum E { A }
}

macro_rules! m { () => {} }
"""
RUST_UNITS = [
    ("block", "", 1, 1),
    ("struct", "Point", 3, 5),
    ("trait", "Draw", 7, 7),
    ("impl", "Point", 9, 11),
    ("module", "inner", 13, 13),
    ("function", "inner.f", 14, 14),
    ("enum", "inner.E", 16, 17),
    ("function", "m", 19, 19),
]

JAVA = """package a.b;

import java.util.List;

/** Doc. */
@Service
public class Main extends Base {
    @Override
    public void run() { helper(new Thing()); }
}

interface Named { String name(); }

enum Level { LOW }

record Pair(int a, int b) {}
"""
JAVA_UNITS = [
    ("block", "", 1, 3),
    ("class", "Main", 5, 10),
    ("interface", "Named", 12, 12),
    ("enum", "Level", 14, 14),
    ("class", "Pair", 16, 16),
]

C = """#include <stdio.h>
#include "own.h"

/* Adds. */
static int
add(int a, int b)
{
    return sub(a, b);
}

struct point { int x; };

typedef struct { int y; } other_t;

enum color { RED };

#define MAX(a, b) ((a) > (b) ? (a) : (b))

char *name(void) { return 0; }
"""
C_UNITS = [
    ("block", "", 1, 2),
    ("function", "add", 4, 9),
    ("struct", "point", 11, 11),
    ("struct", "other_t", 13, 13),
    ("enum", "color", 15, 15),
    ("function", "MAX", 17, 17),
    ("function", "name", 19, 19),
]

CPP = """#include <vector>

namespace app {

template <class T>
class Box : public Base {
 public:
  int get() const { return value_; }
};

}  // namespace app

int app::Box<int>::size() { return std::max(a, b); }

bool operator==(const A& a, const A& b) { return true; }

A::~A() {}
"""
CPP_UNITS = [
    ("block", "", 1, 1),
    ("module", "app", 3, 3),
    ("class", "app.Box", 5, 11),
    ("method", "Box.size", 13, 13),
    ("function", "operator==", 15, 15),
    ("method", "A.~A", 17, 17),
]

CSHARP = """using System.Text;

namespace App.Core
{
    /// <summary>Doc.</summary>
    [Serializable]
    public class Client : Base
    {
        public int Size { get { return size; } }

        public Client() { Init(); }
    }

    public interface IThing { void Do(); }

    struct P { int x; }

    enum E { A }
}
"""
CSHARP_UNITS = [
    ("block", "", 1, 1),
    ("module", "App.Core", 3, 4),
    ("class", "App.Core.Client", 5, 12),
    ("interface", "App.Core.IThing", 14, 14),
    ("struct", "App.Core.P", 16, 16),
    ("enum", "App.Core.E", 18, 19),
]

RUBY = """require "json"
require_relative "own"

# A client.
class Net::Client < Base
  def self.build(a)
    new(a)
  end

  def go; end
end

module Tools
  def help
    puts "x"
  end
end
"""
RUBY_UNITS = [
    ("block", "", 1, 2),
    ("class", "Net.Client", 4, 11),
    ("module", "Tools", 13, 13),
    ("method", "Tools.help", 14, 17),
]

PHP = """<?php
namespace App\\Core;

use Other\\Thing as T;

/** Doc. */
#[Attr]
final class Client extends Base
{
    public function go(): void { helper(new T()); }
}

interface I { function a(); }

trait Loud { function b() {} }

function free($x) { return $x->call(); }
"""
PHP_UNITS = [
    ("block", "", 1, 4),
    ("class", "Client", 6, 11),
    ("interface", "I", 13, 13),
    ("trait", "Loud", 15, 15),
    ("function", "free", 17, 17),
]

BASH = """#!/bin/bash
set -e
source ./lib.sh

# Builds.
build() {
  make all
}

function clean { rm -rf out; }

build
"""
BASH_UNITS = [
    ("block", "", 1, 3),
    ("function", "build", 5, 8),
    ("function", "clean", 10, 10),
    ("block", "", 12, 12),
]

MARKDOWN = """Before.

# Title

Words.

```sh
# no heading
```

Second
------

### Third `x`

End
"""
MARKDOWN_UNITS = [
    ("block", "", 1, 1),
    ("section", "Title", 3, 9),
    ("section", "Title.Second", 11, 12),
    ("section", "Title.Second.Third x", 14, 16),
]

RST = """=====
Title
=====

Words.

First
-----

.. _label:

Second
------
x
"""
RST_UNITS = [
    ("section", "Title", 1, 5),
    ("section", "Title.First", 7, 10),
    ("section", "Title.Second", 12, 14),
]

TEXT = "a\n\n\nb\n"
TEXT_UNITS = [("block", "", 1, 4)]

SAMPLES: dict[str, tuple[str, list[tuple[str, str, int, int]]]] = {
    "python": (PYTHON, PYTHON_UNITS),
    "javascript": (JAVASCRIPT, JAVASCRIPT_UNITS),
    "typescript": (TYPESCRIPT, TYPESCRIPT_UNITS),
    "go": (GO, GO_UNITS),
    "rust": (RUST, RUST_UNITS),
    "java": (JAVA, JAVA_UNITS),
    "c": (C, C_UNITS),
    "cpp": (CPP, CPP_UNITS),
    "csharp": (CSHARP, CSHARP_UNITS),
    "ruby": (RUBY, RUBY_UNITS),
    "php": (PHP, PHP_UNITS),
    "bash": (BASH, BASH_UNITS),
    "markdown": (MARKDOWN, MARKDOWN_UNITS),
    "rst": (RST, RST_UNITS),
    "text": (TEXT, TEXT_UNITS),
}
